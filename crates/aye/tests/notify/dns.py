"""A DNS server that knows one name: `dns.py NAME ADDRESS`, on 127.0.0.1:53."""
import socket
import struct
import sys

name, address = sys.argv[1].rstrip(".").lower(), socket.inet_aton(sys.argv[2])
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
print("up", flush=True)
while True:
    query, client = server.recvfrom(512)
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind = struct.unpack("!H", query[at + 1:at + 3])[0]
    asked = query[12:at + 5]
    known = ".".join(labels).lower() == name
    answers = known and kind == 1
    flags = 0x8180 if known else 0x8183
    head = query[:2] + struct.pack("!HHHHH", flags, 1, int(answers), 0, 0)
    answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + address if answers else b""
    server.sendto(head + asked + answer, client)
