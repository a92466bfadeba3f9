"""Writes the vocabularies of OpenAI's tiktoken in the form that crates/cost carries, with their licence.

    vocabulary.py FOLDER

Of each encoding NAME.bin: the number of its tokens (four bytes, the lowest first), the length of each (one byte), then the bytes of
all of them, in the order of their ranks. Special tokens are not among them. Nothing is downloaded: see recount.py.
"""

import importlib.metadata
import os
import pathlib
import sys

# The tree stays as it is.
sys.dont_write_bytecode = True

import recount

ENCODINGS = "cl100k_base", "o200k_base"
LICENSE = "vocabulary-license.txt"


def packed(encoding):
    ranks = range(len(encoding.token_byte_values()))
    tokens = [encoding.decode_single_token_bytes(rank) for rank in ranks]
    return len(tokens).to_bytes(4, "little") + bytes(map(len, tokens)) + b"".join(tokens)


def main(folder):
    os.environ["TIKTOKEN_CACHE_DIR"] = str(recount.vocabularies())
    import tiktoken

    folder = pathlib.Path(folder)
    for name in ENCODINGS:
        (folder / f"{name}.bin").write_bytes(packed(tiktoken.get_encoding(name)))
    carried = importlib.metadata.files("tiktoken")
    license = next(file for file in carried if file.name == "LICENSE")
    (folder / LICENSE).write_text(license.read_text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
