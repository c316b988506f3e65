"""The scripts that run @ag-ui/client, and its installation."""

import shutil
from pathlib import Path

from tests.clients.foreign import output_of, skip_loudly

HERE = Path(__file__).parent / "agui"


async def install() -> None:
    """Installs the pinned clients beside their script."""
    if not (shutil.which("node") and shutil.which("npm")):
        skip_loudly("@ag-ui/client", "node and npm are not here")
    if (HERE / "node_modules/agui-1/package.json").exists():
        return
    try:
        await output_of("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", cwd=HERE)
    except RuntimeError as error:
        skip_loudly("@ag-ui/client", f"npm could not install it: {error}")
