"""An SMTP server that wants STARTTLS and a password, and writes every mail to a file.

    smtp.py DIRECTORY CERTIFICATE KEY: prints its port.
"""
import itertools
import json
import socket
import ssl
import sys
import time
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

directory, certificate, key = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
numbers = itertools.count()


class Keeper:
    async def handle_DATA(self, server, session, envelope):
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "encrypted": session.ssl is not None,
            "user": session.auth_data.login.decode() if session.auth_data else None,
            "content": envelope.content.decode("utf-8", "replace"),
        }
        path = directory / f"{next(numbers)}.json"
        path.with_suffix(".tmp").write_text(json.dumps(mail))
        path.with_suffix(".tmp").rename(path)
        return "250 kept"


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.password == b"mail-pass-77"
    return AuthResult(success=good, handled=good, auth_data=data if good else None)


context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(certificate, key)
# It wants to know its port before it listens.
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
controller = Controller(
    Keeper(), hostname="127.0.0.1", port=port, tls_context=context, require_starttls=True,
    auth_required=True, auth_require_tls=True, authenticator=authenticate,
)
controller.start()
print(port, flush=True)
while True:
    time.sleep(3600)
