"""The software bill of materials of a wheel, as CycloneDX JSON: what it brings, what it needs, what it was made with.

It says the same for the same wheel: the time is that of the commit, the serial number follows from the wheel's digest.
Source of the format: CycloneDX 1.6, ECMA-424.
"""

from __future__ import annotations

import datetime
import json
import uuid
import zipfile
from collections.abc import Sequence
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement

from anywarp.catalogue.deriving.inputs import Input
from releasing.carried import CARRIED

LINKED = (
    ("libc++", "Apache-2.0 WITH LLVM-exception"),
    ("libc++abi", "Apache-2.0 WITH LLVM-exception"),
    ("libunwind", "Apache-2.0 WITH LLVM-exception"),
    ("zig-compiler-rt", "MIT"),
)
"""What zig links into every library, with its licence; each has the version of ziglang."""

INLINED = {
    "torch": "BSD-3-Clause",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
}
"""Packages of standins.tsv whose headers have code that is in PyTorch's stand-ins, with their licences. The others are only linked to."""


def of_wheel(wheel: Path, digest: str, epoch: int, linked: bool, fetched: Sequence[Input] = ()) -> str:
    """Return the bill of a wheel whose SHA-256 is `digest`; ValueError when it would not be valid by CycloneDX's schema.

    `linked`: zig linked it, and what it brings is in there. `fetched`: what standins.tsv says that it was compiled with. Requirements have no version, since pip chooses it: the property says which are allowed, and under which condition.
    """
    with zipfile.ZipFile(wheel) as files:
        name = next(each for each in files.namelist() if each.endswith(".dist-info/METADATA"))
        about = HeaderParser().parsestr(files.read(name).decode())
    licenses = LicenseFactory()
    version = about["Version"]
    main = Component(
        name=about["Name"],
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{about['Name']}=={version}",
        description=about["Summary"],
        licenses=[licenses.make_from_string(about["License-Expression"])],
        purl=PackageURL("pypi", name=about["Name"], version=version, qualifiers={"file_name": wheel.name}),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, digest))
    bom.metadata.component = main
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    needed = [_requirement(Requirement(line)) for line in about.get_all("Requires-Dist", [])]
    zig = metadata.version("ziglang")
    brought = [
        Component(
            name=each,
            version=zig,
            type=ComponentType.LIBRARY,
            bom_ref=f"linked:{each}",
            licenses=[licenses.make_from_string(terms)],
            properties=[Property(name="anywarp:linked", value="statically, from the package ziglang")],
        )
        for each, terms in (LINKED if linked else ())
    ]
    brought += [
        Component(
            name=each.package,
            version=each.version,
            type=ComponentType.LIBRARY,
            bom_ref=f"inlined:{each.package}=={each.version}",
            licenses=[licenses.make_from_string(INLINED[each.package])],
            properties=[Property(name="anywarp:inlined", value="code of its headers, in PyTorch's stand-ins")],
        )
        for each in fetched
        if each.package in INLINED
    ]
    brought += [
        Component(
            name=each.name,
            type=ComponentType.LIBRARY,
            bom_ref=f"carried:{each.folder}",
            description=f"by {each.authors}",
            licenses=[licenses.make_from_string(each.terms)],
            properties=[
                Property(name="anywarp:carried", value=f"in {each.library}, from native/third_party/{each.folder}")
            ],
        )
        for each in CARRIED
    ]
    bom.components.update([*needed, *brought])
    bom.register_dependency(main, [*needed, *brought])
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"the SBOM is not valid: {wrong}")
    return json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"


def _requirement(needed: Requirement) -> Component:
    """Return what stands for a line of Requires-Dist; its name with the condition is its reference, as one name may have several."""
    condition = str(needed.marker) if needed.marker else ""
    return Component(
        name=needed.name,
        type=ComponentType.LIBRARY,
        scope=ComponentScope.OPTIONAL if "extra ==" in condition else ComponentScope.REQUIRED,
        bom_ref=f"{needed.name}; {condition}" if condition else needed.name,
        purl=PackageURL("pypi", name=needed.name),
        properties=[
            Property(name="anywarp:requirement", value=str(needed.specifier) or "any"),
            *([Property(name="anywarp:condition", value=condition)] if condition else []),
        ],
    )
