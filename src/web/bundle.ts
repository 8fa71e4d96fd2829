import { hash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** All styles are one file and all scripts are another, so that Turbo never has to add a style or a script between two pages. */
const styles = 'belfry.css'
const entry = 'belfry.js'

/** The endings of compressed copies, by encoding. Clients get the first one that they accept. */
export const encodings: Record<string, string> = { br: '.br', gzip: '.gz' }
const compress: Record<string, (text: string) => Buffer> = { br: brotliCompressSync, gzip: gzipSync }

export interface Bundle {
  version: string
  names: string[]
  /** Reads a file, or its compressed copy. */
  read(name: string, ending?: string): Buffer
}

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const made = join(modules, '.cache', 'belfry', 'assets')
/** In the package only, see bin/build.ts. It has one folder, which is named by the version. */
const shipped = join(import.meta.dirname, 'bundle')

/**
 * Finds the minified styles and scripts of these folders, or makes them. They are kept, because this takes half a second, most of it for
 * compression: unminified and in 20 files, they were 88 KB compressed, now 54.
 */
export async function bundleAssets(folders: string[]): Promise<Bundle> {
  const [packed] = existsSync(shipped) ? readdirSync(shipped) : []
  if (packed) return openBundle(shipped, packed)
  const paths = [join(import.meta.dirname, 'assets'), ...folders].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  )
  const sources = [...listStyles(), ...paths, turbo()].map((path) => ({ path, text: readFileSync(path, 'utf8') }))
  const version = hash('sha1', sources.map(({ text }) => text).join()).slice(0, 10)
  const folder = join(made, version)
  if (existsSync(folder)) return openBundle(made, version)
  const files = compressAll(await minify(sources))
  keep(folder, files)
  return {
    version,
    names: [...files.keys()].filter(isWhole),
    read: (name, ending = '') => files.get(`${name}${ending}`) ?? Buffer.of(),
  }
}

function openBundle(folder: string, version: string): Bundle {
  const read = (name: string, ending = '') => readFileSync(join(folder, version, `${name}${ending}`))
  return { version, names: readdirSync(join(folder, version)).filter(isWhole), read }
}

interface Source {
  path: string
  text: string
}

const turbo = () => createRequire(import.meta.url).resolve('@hotwired/turbo/dist/turbo.es2017-esm.js')

function listStyles() {
  const first = ['styles/tokens.css', 'styles/base.css']
  const all = globSync(['styles/*.css', 'components/*.css'], { cwd: import.meta.dirname }).toSorted()
  return [...new Set([...first, ...all])].map((path) => join(import.meta.dirname, path))
}

const isWhole = (name: string) => !Object.values(encodings).includes(extname(name))

function compressAll(files: Map<string, string>): Map<string, Buffer> {
  const all = new Map<string, Buffer>()
  for (const [name, text] of files) {
    all.set(name, Buffer.from(text))
    for (const [encoding, ending] of Object.entries(encodings))
      all.set(`${name}${ending}`, compress[encoding]?.(text) ?? Buffer.of())
  }
  return all
}

/** For the next start. The folder of the program may be read-only; then each start makes them again. */
function keep(folder: string, files: Map<string, Buffer>) {
  try {
    mkdirSync(made, { recursive: true })
    const draft = mkdtempSync(join(made, 'draft-'))
    chmodSync(draft, 0o755)
    for (const [name, bytes] of files) writeFileSync(join(draft, name), bytes)
    try {
      renameSync(draft, folder)
    } catch {
      // Another process was faster.
      rmSync(draft, { recursive: true })
    }
  } catch {}
}

async function minify(sources: Source[]): Promise<Map<string, string>> {
  // Loaded here, because it is needed only after a change of the sources.
  const { build, transform } = await import('esbuild')
  const of = (ending: string) => sources.filter(({ path }) => extname(path) === ending)
  const scripts = of('.js').filter(({ path }) => path !== turbo())
  const places = new Map(scripts.map(({ path }) => [basename(path), path])).set('turbo.js', turbo())
  const { outputFiles } = await build({
    stdin: { contents: scripts.map(({ path }) => `import './${basename(path)}'`).join('\n'), sourcefile: entry },
    outfile: entry,
    bundle: true,
    minify: true,
    format: 'esm',
    sourcemap: 'linked',
    write: false,
    // The scripts of all parts import each other as if they were in one folder.
    plugins: [
      {
        name: 'places',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\// }, ({ path }) => ({ path: places.get(basename(path)) ?? path, sideEffects: true })),
      },
    ],
  })
  const css = await transform(
    of('.css')
      .map(({ text }) => text)
      .join(''),
    { loader: 'css', minify: true },
  )
  const others = sources.filter(({ path }) => !['.css', '.js'].includes(extname(path)))
  return new Map([
    [styles, css.code],
    ...outputFiles.map(({ path, text }): [string, string] => [basename(path), text]),
    ...others.map(({ path, text }): [string, string] => [basename(path), text]),
  ])
}
