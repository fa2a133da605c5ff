"""Images as OCI layouts, made by hand (OCI image specification): layers of given files, with whiteouts and links."""

import gzip
import hashlib
import io
import json
import tarfile

import zstandard

INDEX, MANIFEST = "application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"
CONFIG, LAYER = "application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar"
LIBC = b"\x7fELF... GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n..."
SYSTEM = {
    "usr/lib/x86_64-linux-gnu/libc.so.6": LIBC,
    "lib": ("link", "usr/lib"),
    "usr/bin/python3": ("link", "python3.11"),
    "usr/bin/python3.11": b"\x7fELF",
    "usr/lib/python3.11/ctypes/__init__.py": b"",
}
"""What an image needs for anywarp: glibc and a whole Python."""


def tar(files):
    """Return an archive of files: bytes, ("link", target), ("hard", target), or a TarInfo with bytes."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            data = b""
            if isinstance(content, tuple):
                info.type = {
                    "link": tarfile.SYMTYPE,
                    "hard": tarfile.LNKTYPE,
                    "folder": tarfile.DIRTYPE,
                    "fifo": tarfile.FIFOTYPE,
                }[content[0]]
                info.linkname = content[1]
            else:
                data = content
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


class Layout:
    """A layout in a folder; `image` adds a manifest's parts and returns its descriptor, `write` the index."""

    def __init__(self, root):
        self.root = root
        (root / "blobs" / "sha256").mkdir(parents=True)
        (root / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')

    def blob(self, data, media):
        digest = hashlib.sha256(data).hexdigest()
        (self.root / "blobs" / "sha256" / digest).write_bytes(data)
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}

    def json(self, told, media):
        return self.blob(json.dumps(told).encode(), media)

    def image(self, *layers, packing="gzip", machine="amd64", platform=True, manifest=None, **config):
        plain = [layer if isinstance(layer, bytes) else tar(layer) for layer in layers]
        pack = {"gzip": lambda data: gzip.compress(data, 1), "zstd": zstandard.ZstdCompressor().compress, "": bytes}[
            packing
        ]
        told = {
            "os": "linux",
            "architecture": machine,
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(data).hexdigest() for data in plain]},
            "history": [{"created_by": "by hand"} for _ in plain],
        }
        made = self.json(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": self.json(told, CONFIG),
                "layers": [self.blob(pack(data), LAYER + (f"+{packing}" if packing else "")) for data in plain],
                **(manifest or {}),
            },
            MANIFEST,
        )
        return {**made, **({"platform": {"os": "linux", "architecture": machine}} if platform else {})}

    def write(self, *descriptors):
        told = {"schemaVersion": 2, "mediaType": INDEX, "manifests": list(descriptors)}
        (self.root / "index.json").write_text(json.dumps(told))
        return self.root


def read(root, descriptor):
    data = (root / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
    assert (
        hashlib.sha256(data).hexdigest() == descriptor["digest"].partition(":")[2] and len(data) == descriptor["size"]
    )
    return data


def images(root):
    """Return the manifests of a layout's index with their configurations, every digest looked at again."""
    out = []
    for entry in json.loads((root / "index.json").read_text())["manifests"]:
        manifest = json.loads(read(root, entry))
        config = json.loads(read(root, manifest["config"]))
        for layer, diff in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
            data = read(root, layer)
            if layer["mediaType"].endswith("gzip"):
                data = gzip.decompress(data)
            elif layer["mediaType"].endswith("zstd"):
                data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            assert "sha256:" + hashlib.sha256(data).hexdigest() == diff
        out.append((entry, manifest, config))
    return out
