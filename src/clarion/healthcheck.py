"""`python -m clarion.healthcheck [URL]`: exit 0 if the address answers 200, for containers without curl.

It loads nothing but the standard library, because containers run it every few seconds.
"""

import os
import sys
import urllib.error
import urllib.request

_TIMEOUT_SECONDS = 4


def main(arguments: list[str]) -> int:
    port = os.environ.get("CLARION_PORT") or os.environ.get("PORT") or "3000"
    url = arguments[0] if arguments else f"http://127.0.0.1:{port}/v1/health-check"
    # A proxy of the environment is for providers, not for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_TIMEOUT_SECONDS) as response:
            problem = "" if response.status == 200 else str(response.status)
    except (OSError, ValueError) as error:
        problem = str(error)
    if problem:
        sys.stderr.write(f"{url}: {problem}\n")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
