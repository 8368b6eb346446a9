"""Seals, opens and rewraps files with the Python client: COMMAND FROM TO ...; a line for each, and the most memory in kB. `import` takes keys TO."""

import os
import re
import sys
from pathlib import Path

from keystored_client import SEALED_HEADER_BYTES, Client, SealedDataError, Token

client = Client(
    os.environ["KEYSTORED_URL"],
    ca=Path(os.environ["KEYSTORED_CA_FILE"]).read_text(),
    credentials=Token(os.environ["KEYSTORED_TOKEN"]),
)
key = client.key(os.environ["KEYSTORED_KEY"])
command, *files = sys.argv[1:]


def work(origin: str, target: str) -> None:
    if command == "import":
        return client.key(target).import_wrapped(Path(origin).read_bytes())
    if command == "rewrap":
        with open(origin, "r+b") as file:
            header = key.rewrap_sealed(file.read(SEALED_HEADER_BYTES))
            file.seek(0)
            file.write(header)
        return
    with open(origin, "rb") as source, open(target, "wb") as sink:
        sink.writelines(key.seal(source) if command == "seal" else key.open(source))


for origin, target in zip(files[::2], files[1::2]):
    try:
        work(origin, target)
        print("done")
    except SealedDataError as error:
        print(f"refused: {error}")
print(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text()).group(1))
client.close()
