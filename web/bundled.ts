// Names the packages of others that a build contains, with their licences, for THIRD-PARTY-NOTICES.

import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Plugin } from "vite";

const FOLDER = `${sep}node_modules${sep}`;

/** Adds `bundled.json` to the build. It is not served. */
export function bundled(): Plugin {
  return {
    name: "bundled",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        for (const [id, module] of Object.entries(chunk.modules)) {
          const folder = packageOf(id);
          if (folder !== null && module.renderedLength > 0) folders.add(folder);
        }
      }
      const packages = [...folders].map(described).sort((a, b) => (a.name < b.name ? -1 : 1));
      this.emitFile({ type: "asset", fileName: "bundled.json", source: `${JSON.stringify(packages, null, 1)}\n` });
    },
  };
}

/** The folder of the package that a module is in. */
function packageOf(id: string): string | null {
  const path = id.replace(/^\0/, "").split("?")[0] ?? "";
  const at = path.lastIndexOf(FOLDER);
  if (at < 0) return null;
  const parts = path.slice(at + FOLDER.length).split(sep);
  const name = parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1);
  return path.slice(0, at + FOLDER.length) + name.join(sep);
}

function described(folder: string) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  return { name, version, license, texts: files.map((file) => readFileSync(join(folder, file), "utf8")) };
}
