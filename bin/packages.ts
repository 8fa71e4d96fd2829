import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { readLicenseTemplate } from '#hosting/templates/licenses.ts'
import manifest from '../package.json' with { type: 'json' }

/** Packages that only make the bundle of styles and scripts, which is in the package. */
const bundlers = ['@hotwired/turbo', 'esbuild']

/** Packages that npm installs beside ours, because they are read file by file: binaries, icons and languages. */
export const installed = ['@node-rs/argon2', '@primer/octicons', 'highlight.js']

/**
 * All others are in our package. npm installs 8 packages instead of 158, and does not warn that some need a newer Node than the machine's,
 * which does not run them.
 */
export const bundledPackages = Object.keys(manifest.dependencies).filter((name) => ![...bundlers, ...installed].includes(name))

/** Some of them use these where they are installed, for what we do not call. */
const optional = ['pg-native', 'typescript']

/** Most of them were written for it. */
const defineRequire = `import { createRequire as createPackageRequire } from 'node:module'
const require = createPackageRequire(import.meta.url)`

/** Makes a folder with a file for each package, files for what they share, and their licenses. */
export async function putPackages(root: string, folder: string) {
  mkdirSync(folder)
  const entries = bundledPackages.map((name) => join(folder, `${name}.js`))
  for (const [index, name] of bundledPackages.entries()) writeFileSync(`${entries[index]}`, await exportAll(name))
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints: entries, outdir: folder, allowOverwrite: true, external: optional, metafile: true },
    ...{ bundle: true, splitting: true, banner: { js: defineRequire } },
    ...{ format: 'esm', platform: 'node', target: 'esnext', logLevel: 'warning' },
  })
  const found = Object.keys(metafile.inputs).flatMap((path) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  const notices = await Promise.all([...new Set(found)].map((path) => notice(join(root, path))))
  writeFileSync(join(folder, 'licenses.txt'), [introduction, ...new Set(notices.sort())].join('\n'))
}

/** By their names, which only Node knows of a package that was written for `require`. */
async function exportAll(name: string) {
  const names = Object.keys(await import(name)).filter((key) => /^[\w$]+$/.test(key) && key !== '__esModule')
  return `export { ${names.join(', ')} } from '${name}'\n`
}

const introduction = 'The files in this folder contain the packages below. Each is followed by its license.\n'

/** What the license of a package demands in copies of it. */
async function notice(folder: string) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const read = (names: RegExp) =>
    readdirSync(folder)
      .filter((file) => names.test(file))
      .map((file) => readFileSync(join(folder, file), 'utf8').trim())
      .join('\n\n')
  // A few packages have the text only in their README, or only name it.
  const inReadme = () => /^#+ licen[cs]e\n[\s\S]*\bpermission\b[\s\S]*/im.exec(read(/^readme\b/i))?.[0]
  const text = read(/^(?:licen[cs]e|copying|notice)\b/i) || inReadme() || (await fill(license, author?.name ?? author))
  return `${'='.repeat(80)}\n${name} ${version}, ${license}\n\n${text}\n`
}

async function fill(license: string, author: string) {
  const { body } = await readLicenseTemplate(license.toLowerCase())
  return body.replace('[year] [fullname]', author).trim()
}
