"""Makes an authority of this run's own and a certificate for what it serves: certificates.py FOLDER NAME..."""

import datetime
import ipaddress
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LIFE = datetime.timedelta(days=2)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def build(subject, key, issuer, issuer_key, extensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - LIFE).not_valid_after(now + LIFE)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256())


def names(texts):
    def one(text):
        try:
            return x509.IPAddress(ipaddress.ip_address(text))
        except ValueError:
            return x509.DNSName(text)
    return x509.SubjectAlternativeName([one(text) for text in texts])


def main(folder, texts):
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    basic = x509.BasicConstraints(ca=True, path_length=0)
    authority = build("Sharelock test", authority_key, "Sharelock test", authority_key, [(basic, True)])
    leaf = [(names(texts), False), (x509.BasicConstraints(ca=False, path_length=None), True)]
    certificate = build(texts[0], key, "Sharelock test", authority_key, leaf)
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "authority.pem").write_bytes(authority.public_bytes(pem))
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(pem) + authority.public_bytes(pem))
    (folder / "key.pem").write_bytes(secret)


main(Path(sys.argv[1]), sys.argv[2:])
