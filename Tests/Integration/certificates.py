"""Keys, and a certificate authority for tests: certificates of servers and of callers."""

import collections
import datetime
import ipaddress
import itertools

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Files = collections.namedtuple("Files", "certificate key")
PEM = serialization.Encoding.PEM
DAY = datetime.timedelta(days=1)


def write_key(path, mode=0o600):
    """Writes a new P-256 key into a file of this mode; returns the PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(PEM, form, serialization.NoEncryption())
    path.write_bytes(pem)
    path.chmod(mode)
    return pem


class Authority:
    """Signs certificates and writes them into a folder."""

    def __init__(self, folder, name="authority"):
        self.folder = folder
        self.file = folder / f"{name}.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._numbers = itertools.count(1)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key(), days=1000)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(PEM))

    def issue(self, name, *hosts, addresses=(), uris=(), days=1):
        """Writes a certificate for these hosts, IP addresses and URIs that ends in `days`, and its key; returns their files."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [x509.DNSName(host) for host in hosts] + [x509.UniformResourceIdentifier(uri) for uri in uris]
        names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        builder = self._builder(subject, key.public_key(), days)
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        files = Files(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        files.certificate.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(PEM))
        files.key.write_bytes(
            key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        files.key.chmod(0o600)
        return files

    def _builder(self, subject, public_key, days):
        now = datetime.datetime.now(datetime.timezone.utc)
        return (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(public_key)
            .serial_number(next(self._numbers)).not_valid_before(now - 100 * DAY)
            .not_valid_after(now + days * DAY)
        )  # fmt: skip
