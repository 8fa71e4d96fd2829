import { execFile } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join, posix, relative } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { init, parse } from 'es-module-lexer'
import { build as bundle, type Plugin } from 'esbuild'
import { assetFolders } from '#pages.ts'
import { openLog } from '#platform/log.ts'
import { archive, makePreparedCluster } from '#testing/server/prepared-cluster.ts'
import { bundleAssets, encodings } from '#web/bundle.ts'
import { bundledPackages, installed, putPackages } from './packages.ts'

/**
 * Makes what `npm pack` packs: `dist/`, which is `src/` as JavaScript because Node strips no types below node_modules, and a package.json
 * that describes it. `npm run postpack` puts back the package.json of the checkout.
 *
 * The program is bundled into a few files, because loading a thousand takes Node 0.4 s longer. What other processes, threads and users load by
 * its path stays as it is. packages.ts bundles the npm packages for all of them.
 */
const root = join(import.meta.dirname, '..')
const source = join(root, 'src')
const dist = join(root, 'dist')
const manifest = join(root, 'package.json')
/** npm never packs a file of this name. */
const original = join(root, 'package.json.orig')

/** These are in the bundle of styles and scripts. */
const bundled = ['.css', '.js', '.svg']

/** Started by their paths as processes and threads. */
const started = ['platform/launcher-process.ts', 'web/highlight/worker.ts', 'importer/worker/main.ts']

const exec = promisify(execFile)

interface Manifest {
  name: string
  version: string
  exports?: Record<string, string>
  dependencies: Record<string, string>
  [field: string]: unknown
}

async function build() {
  say('Making dist/: styles and scripts …')
  rmSync(dist, { recursive: true, force: true })
  await init
  for (const path of globSync('**/*', { cwd: source })) {
    if (['.ts', ...bundled].includes(extname(path)) || !statSync(join(source, path)).isFile()) continue
    copy(path)
  }
  await putBundle()
  const checkout: Manifest = JSON.parse(readFileSync(manifest, 'utf8'))
  const imported = Object.values(checkout.exports ?? {}).filter((path) => extname(path) === '.ts')
  putFiles([...started, ...imported.map((path) => posix.relative('src', path))])
  say('Making dist/: the program, its packages and types, and the database of test servers …')
  await Promise.all([putProgram(), putPackages(root, join(dist, folderOfPackages)), putCluster(), putDeclarations(imported)])
  const packed = packedManifest(checkout)
  renameSync(manifest, original)
  writeJson(manifest, packed)
  say(`Made dist/ in ${Math.round(performance.now() / 1000)} s. npm packs it now.`)
}

/** Standard output is npm's, which prints the name of the package there. */
const say = (line: string) => process.stderr.write(`${line}\n`)

function put(path: string, contents: string | Buffer) {
  writeFileSync(prepared(path), contents)
}

/** With its mode: git runs hooks. */
function copy(path: string) {
  copyFileSync(join(source, path), prepared(path))
}

function prepared(path: string) {
  const target = join(dist, path)
  mkdirSync(dirname(target), { recursive: true })
  return target
}

/** Specifiers of our files. */
const own = /^[#.]/

const folderOfPackages = 'packages'
const pathOfPackage = (name: string) => `${folderOfPackages}/${name}.js`

const toJavaScriptPath = (path: string) => path.replace(/(\.d)?\.ts$/, '.js')

/** These files and those that they import. */
function putFiles(entries: string[]) {
  const needed = new Set(entries)
  // Files that are added while it runs are visited too.
  for (const path of needed)
    put(
      toJavaScriptPath(path),
      toJavaScript(path, (imported) => needed.add(imported)),
    )
}

/** Types become spaces, so that lines in stack traces are those of the source. */
function toJavaScript(path: string, onImport: (path: string) => void) {
  const text = stripTypeScriptTypes(readFileSync(join(source, path), 'utf8'))
  let written = ''
  let end = 0
  for (const found of parse(text, path)[0]) {
    const specifier = found.specifier ?? ''
    if (own.test(specifier)) onImport(targetOf(path, specifier))
    else if (!bundledPackages.includes(specifier)) continue
    // The position of a dynamic import includes its quotes.
    const quote = found.type === 'dynamic' ? 1 : 0
    written += text.slice(end, found.start + quote) + packedSpecifier(path, specifier)
    end = found.end - quote
  }
  return written + text.slice(end)
}

/** Relative to the file, so that tools without support for `imports` of package.json read the package too. */
function packedSpecifier(path: string, specifier: string) {
  const target = own.test(specifier) ? toJavaScriptPath(targetOf(path, specifier)) : pathOfPackage(specifier)
  const way = posix.relative(posix.dirname(path), target)
  return way.startsWith('.') ? way : `./${way}`
}

function targetOf(path: string, specifier: string) {
  return specifier.startsWith('#') ? specifier.slice(1) : posix.join(posix.dirname(path), specifier)
}

/** `main.js` and a file for each part that is loaded on demand, all of them directly in `dist/`. */
async function putProgram() {
  await bundle({
    entryPoints: [join(source, 'main.ts')],
    ...{ bundle: true, splitting: true, outdir: dist, packages: 'external', plugins: [keepPlaces, usePackages] },
    ...{ format: 'esm', platform: 'node', target: 'esnext', logLevel: 'warning', sourcemap: 'linked' },
  })
}

/** What a file finds beside itself is where it was before it was bundled. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const place = toJavaScriptPath(relative(source, path))
      const folder = JSON.stringify(`/${posix.dirname(place)}`)
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${folder})`)
        .replaceAll('import.meta.filename', `(import.meta.dirname + ${JSON.stringify(`/${place}`)})`)
      return { contents, loader: 'ts' }
    })
  },
}

const usePackages: Plugin = {
  name: 'use-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^#.]/ }, ({ path }) =>
      bundledPackages.includes(path) ? { path: `./${pathOfPackage(path)}`, external: true } : undefined,
    )
  },
}

/** The database of test servers, because making it takes 1 s of their first start. */
async function putCluster() {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-cluster-'))
  try {
    // The account that runs PostgreSQL must be able to enter.
    chmodSync(folder, 0o711)
    await makePreparedCluster(folder, openLog('error'))
    const database = join(folder, 'postgres')
    const { stdout } = await exec('tar', ['-c', '-C', database, '.'], { maxBuffer: 1 << 30, encoding: 'buffer' })
    // Level 9 takes ten times as long for 1 % less.
    put(`testing/server/${archive}`, await promisify(gzip)(stdout, { level: 6 }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function putBundle() {
  const { version, names, read } = await bundleAssets(assetFolders)
  for (const name of names) {
    for (const ending of ['', ...Object.values(encodings)]) put(`web/bundle/${version}/${name}${ending}`, read(name, ending))
  }
}

/** Declarations of what users import, and of what those refer to. */
async function putDeclarations(entries: string[]) {
  if (!entries.length) return
  const project = join(dist, 'tsconfig.json')
  const folder = join(dist, 'declarations')
  writeJson(project, {
    extends: '../tsconfig.json',
    compilerOptions: { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: source, outDir: folder },
    files: entries.map((path) => join(root, path)),
    include: [],
  })
  await exec('tsc', ['-p', project]).catch(({ stdout }) => {
    throw new Error(stdout)
  })
  const needed = new Set(entries.map((path) => relative(source, join(root, path))))
  // Files that are added while it runs are visited too.
  for (const path of needed) {
    const declarations = readFileSync(join(folder, path.replace(/\.ts$/, '.d.ts')), 'utf8')
    const text = declarations.replace(/(?<=\b(?:from |import\(|import )(['"]))[#.][^'"]+\.ts(?=\1)/g, (specifier) => {
      needed.add(targetOf(path, specifier))
      return packedSpecifier(path, specifier)
    })
    put(path.replace(/\.ts$/, '.d.ts'), text)
  }
  rmSync(project)
  rmSync(folder, { recursive: true })
}

function packedManifest({ exports = {}, dependencies, ...checkout }: Manifest) {
  const { name, version, description, license, type, bin, engines, files, optionalDependencies } = checkout
  return {
    ...{ name, version, private: checkout.private, description, license, type, bin, engines, files },
    exports: Object.fromEntries(Object.entries(exports).map(([path, target]) => [path, packedTarget(target)])),
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => installed.includes(name))),
    optionalDependencies,
    // npm reads it after packing.
    scripts: { postpack: (checkout.scripts as Record<string, string>).postpack },
  }
}

function packedTarget(target: string) {
  if (extname(target) !== '.ts') return target
  const path = posix.join('dist', posix.relative('src', target))
  return { types: `./${path.replace(/\.ts$/, '.d.ts')}`, default: `./${toJavaScriptPath(path)}` }
}

function writeJson(path: string, value: unknown) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

await build()
