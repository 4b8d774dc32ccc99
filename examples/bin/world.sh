# A pretend world for the examples, read in by the stand-ins beside it. It is
# made when it is first needed; `rm -r world` begins anew.
set -eu
cd "$(dirname "$0")/.."

# put FILE TEXT: writes a file of the new world.
put() {
    mkdir -p "$(dirname "$new/$1")"
    printf '%s\n' "$2" >"$new/$1"
}

if [ ! -d world ]; then
    new=./.world.$$
    put commits/4f2a91c0 green
    put commits/deadbee1 red
    put commits/77aa3e0d green
    put deployments/web/replicas 3
    put deployments/web/image 1c0ffee2
    put pods/web-1 ready
    put pods/web-2 ready
    put pods/web-3 ready
    put branches/main -
    put branches/release-1.8 merged
    put branches/fix-login merged
    put branches/new-cart -
    put branches/old-theme merged
    put issues/42/title 'The cart forgets its items'
    put issues/42/state open
    put issues/7/title 'Typo on the front page'
    put issues/7/state closed
    put merge_requests/118/title 'Try another session store'
    put merge_requests/118/state open
    put merge_requests/118/branch new-cart
    put merge_requests/117/title 'Repair the login'
    put merge_requests/117/state merged
    put merge_requests/117/branch fix-login
    put pipelines/9001/ref main
    put pipelines/9001/state running
    put pipelines/9000/ref fix-login
    put pipelines/9000/state passed
    put alerts/disk-almost-full/state firing
    put alerts/disk-almost-full/severity warning
    put alerts/checkout-errors/state firing
    put alerts/checkout-errors/severity critical
    # Anyone who comes second takes the world that is there.
    mv "$new" world 2>/dev/null && [ ! -e "world/$new" ] || rm -rf "$new" "world/$new"
fi

# get FILE: what a file of the world says; without it, there is no such thing.
get() {
    [ -f "world/$1" ] || {
        echo "there is no $1" >&2
        exit 4
    }
    cat "world/$1"
}

# set_to FILE TEXT
set_to() {
    get "$1" >/dev/null
    printf '%s\n' "$2" >"world/$1"
}
