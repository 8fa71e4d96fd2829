import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join, posix, relative } from 'node:path'
import { init, parse } from 'es-module-lexer'
import { assetFolders } from '#pages.ts'
import { bundleAssets, encodings } from '#web/bundle.ts'

/**
 * Makes what `npm pack` packs: `dist/`, which is `src/` as JavaScript because Node strips no types below node_modules, and a package.json
 * that describes it. `npm run postpack` puts back the package.json of the checkout.
 */
const root = join(import.meta.dirname, '..')
const source = join(root, 'src')
const dist = join(root, 'dist')
const manifest = join(root, 'package.json')
/** npm never packs a file of this name. */
const original = join(root, 'package.json.orig')

/** Packages that only make the bundle of styles and scripts, which is in the package. */
const bundlers = ['@hotwired/turbo', 'esbuild']
const bundled = ['.css', '.js', '.svg']

interface Manifest {
  name: string
  version: string
  exports?: Record<string, string>
  dependencies: Record<string, string>
  [field: string]: unknown
}

async function build() {
  rmSync(dist, { recursive: true, force: true })
  await init
  for (const path of globSync('**/*', { cwd: source })) {
    if (path.endsWith('.test.ts') || !statSync(join(source, path)).isFile()) continue
    if (extname(path) === '.ts') put(toJavaScriptPath(path), toJavaScript(path))
    else if (!bundled.includes(extname(path))) copy(path)
  }
  await putBundle()
  const checkout: Manifest = JSON.parse(readFileSync(manifest, 'utf8'))
  putDeclarations(Object.values(checkout.exports ?? {}).filter((path) => extname(path) === '.ts'))
  const packed = packedManifest(checkout)
  renameSync(manifest, original)
  writeJson(manifest, packed)
}

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

const toJavaScriptPath = (path: string) => path.replace(/(\.d)?\.ts$/, '.js')

/** Types become spaces, so that lines in stack traces are those of the source. */
function toJavaScript(path: string) {
  const text = stripTypeScriptTypes(readFileSync(join(source, path), 'utf8'))
  let written = ''
  let end = 0
  for (const found of parse(text, path)[0]) {
    if (!found.specifier || !own.test(found.specifier)) continue
    // The position of a dynamic import includes its quotes.
    const quote = found.type === 'dynamic' ? 1 : 0
    written += text.slice(end, found.start + quote) + packedSpecifier(path, found.specifier)
    end = found.end - quote
  }
  return written + text.slice(end)
}

/** Relative to the file, so that tools without support for `imports` of package.json read the package too. */
function packedSpecifier(path: string, specifier: string) {
  const way = posix.relative(posix.dirname(path), toJavaScriptPath(targetOf(path, specifier)))
  return way.startsWith('.') ? way : `./${way}`
}

function targetOf(path: string, specifier: string) {
  return specifier.startsWith('#') ? specifier.slice(1) : posix.join(posix.dirname(path), specifier)
}

async function putBundle() {
  const { version, names, read } = await bundleAssets(assetFolders)
  for (const name of names) {
    for (const ending of ['', ...Object.values(encodings)]) put(`web/bundle/${version}/${name}${ending}`, read(name, ending))
  }
}

/** Declarations of what users import, and of what those refer to. */
function putDeclarations(entries: string[]) {
  if (!entries.length) return
  const project = join(dist, 'tsconfig.json')
  const folder = join(dist, 'declarations')
  writeJson(project, {
    extends: '../tsconfig.json',
    compilerOptions: { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: source, outDir: folder },
    files: entries.map((path) => join(root, path)),
    include: [],
  })
  execFileSync('tsc', ['-p', project], { stdio: 'inherit' })
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
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => !bundlers.includes(name))),
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
