"""Counts the requests that the simulator wrote once more, with OpenAI's own tiktoken.

    recount.py FOLDER...

Reads every *.json below the folders, one request each, in the form that docs/simulator.md describes. Fails unless each block, and
each request as a whole, has exactly the tokens that the file says. Nothing is downloaded: the vocabularies are files of the
package litellm, whose checksums tiktoken itself checks.
"""

import importlib.util
import json
import os
import pathlib
import sys

SHOWN_MAX = 20


def vocabularies():
    """The folder in which litellm carries what tiktoken would download, found without importing litellm."""
    package = importlib.util.find_spec("litellm")
    if package is None:
        sys.exit("recount: the package litellm, which carries the vocabularies, is not installed")
    return pathlib.Path(package.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


def main(folders):
    if not folders:
        sys.exit(__doc__)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabularies())
    import tiktoken

    files = sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.json"))
    if not files:
        sys.exit(f"recount: there is no request below {', '.join(folders)}")
    counted = {}
    wrong = []
    blocks = tokens = 0
    for file in files:
        request = json.loads(file.read_text(encoding="utf-8"))
        name = request.get("encoding", "cl100k_base")
        encoding = tiktoken.get_encoding(name)
        total = 0
        for index, block in enumerate(request["blocks"]):
            key = (name, block["text"])
            if key not in counted:
                counted[key] = len(encoding.encode_ordinary(block["text"]))
            total += counted[key]
            if counted[key] != block["tokens"]:
                wrong.append(f"{file}: block {index} ({block['kind']}): {block['tokens']} there, {counted[key]} by tiktoken")
        if total != request["tokens"]:
            wrong.append(f"{file}: {request['tokens']} in all there, {total} by tiktoken")
        blocks += len(request["blocks"])
        tokens += total
    for line in wrong[:SHOWN_MAX]:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(f"recount: {len(wrong)} counts differ from those of tiktoken {tiktoken.__version__}")
    print(f"{len(files)} requests, {blocks} blocks, {tokens} tokens: as tiktoken {tiktoken.__version__} counts them")


if __name__ == "__main__":
    main(sys.argv[1:])
