//! The signature of a webhook.

use aye_core::digest::hex;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header that a webhook is signed with: `t=SECONDS,v1=HEX`, where `HEX` is
/// the HMAC-SHA256 of `SECONDS.BODY` under the secret.
pub fn signature(secret: &str, seconds: i64, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        unreachable!("HMAC takes keys of any length")
    };
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    format!("t={seconds},v1={}", hex(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
    #[test]
    fn time_and_body_are_signed() {
        assert_eq!(
            signature("secret", 1_700_000_000, br#"{"a":1}"#),
            "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686"
        );
    }
}
