"""Certificates of the webhook: files that are read again when they change, and a pair of one's own for a first try.

Kubernetes replaces the files of a mounted secret together, by a link (`..data`); a pair that does not fit is tried again.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anywarp.deploy.webhook import codes

CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
_HOUR = datetime.timedelta(hours=1)
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate with its key and the authority that signed it, each as PEM."""

    authority: bytes
    certificate: bytes
    key: bytes


class Watched:
    """A TLS context over two files; `refresh` reads them again when their content has changed."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self.certificate, self.key = certificate, key
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._seen = self._content()
        self._load()

    def refresh(self) -> bool:
        """Read the files again if they changed; tell whether they did. AnywarpError (Y111) when they cannot be used: the old pair goes on."""
        now = self._content()
        if now == self._seen:
            return False
        self._load()
        self._seen = now
        return True

    def _content(self) -> tuple[bytes, bytes]:
        try:
            with self.certificate.open("rb") as one, self.key.open("rb") as other:
                return one.read(_LARGEST), other.read(_LARGEST)
        except OSError as error:
            raise _unusable(error.filename or self.certificate, error.strerror or str(error)) from error

    def _load(self) -> None:
        try:
            self.context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (OSError, ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
            raise _unusable(
                self.certificate, f"it and {self.key} are no certificate with its key ({reason})"
            ) from error


def _no_password() -> str:
    raise ValueError("the key is encrypted")


def _unusable(path: str | Path, why: str) -> codes.AnywarpError:
    help = "give a certificate and its key in PEM; --self-signed DIR makes a pair for a first try"
    return codes.problem(codes.CERTIFICATE, f"{path} cannot be used: {why}", help)


def issue(names: Sequence[str], days: int = 365) -> Pair:
    """Return a new authority and a certificate of it for these names and addresses (the key of the authority is not kept)."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ImportError as error:
        raise codes.missing(error) from error
    start = datetime.datetime.now(datetime.timezone.utc) - _HOUR
    end = start + datetime.timedelta(days=days)

    def builder(name: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        made = x509.CertificateBuilder().serial_number(x509.random_serial_number()).public_key(key.public_key())
        made = made.subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])]))
        made = made.issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        return made.not_valid_before(start).not_valid_after(end)

    def usage(signs: bool) -> x509.KeyUsage:
        return x509.KeyUsage(
            digital_signature=not signs, key_cert_sign=signs, crl_sign=signs, content_commitment=False,
            key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip

    authority_name = "anywarp webhook authority"
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    identifier = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    authority = builder(authority_name, authority_name, authority_key)
    authority = authority.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    authority = authority.add_extension(usage(True), critical=True).add_extension(identifier, critical=False)
    own = builder(names[0], authority_name, key)
    own = own.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    own = own.add_extension(usage(False), critical=True)
    own = own.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    own = own.add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
    others = [x509.IPAddress(address) if (address := _address(name)) else x509.DNSName(name) for name in names]
    own = own.add_extension(x509.SubjectAlternativeName(others), critical=False)
    pem = serialization.Encoding.PEM
    return Pair(
        authority.sign(authority_key, hashes.SHA256()).public_bytes(pem),
        own.sign(authority_key, hashes.SHA256()).public_bytes(pem),
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def self_signed(folder: Path, names: Sequence[str]) -> tuple[Path, Path]:
    """Return certificate and key in a folder, made there if they are missing; AnywarpError (Y111) where they cannot be written."""
    paths = folder / CERTIFICATE, folder / KEY
    if all(path.exists() for path in paths):
        return paths
    made = issue(names)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, data in ((AUTHORITY, made.authority), (KEY, made.key), (CERTIFICATE, made.certificate)):
            _write(folder / name, data)
    except OSError as error:
        help = "choose a folder of your own"
        raise codes.problem(codes.CERTIFICATE, f"{error.filename} cannot be written: {error.strerror}", help) from error
    return paths


def _write(path: Path, data: bytes) -> None:
    """Put a file in place whole, for its owner alone."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
