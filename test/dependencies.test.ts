import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const {
  dependencies,
  optionalDependencies,
  devDependencies,
}: Record<'dependencies' | 'optionalDependencies' | 'devDependencies', Record<string, string>> = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

/** Imports of types do not count: they are gone when the program runs. */
const imports = [
  /^(?:import|export) [\w\s*,{}$]*from '([^'#.][^']*)'/gm,
  /^import '([^'#.][^']*)'/gm,
  /\bimport\('([^'#.][^']*)'\)/g,
  // Also packages of which only files are read.
  /\bcreateRequire\(import\.meta\.url\)(?:\.resolve)?\('([^']+)'\)/g,
]

function packagesIn(file: string) {
  const text = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'))
  const modules = imports.flatMap((pattern) => [...text.matchAll(pattern)].map(([, module = '']) => module))
  return modules.filter((module) => !isBuiltin(module)).map((module) => /^(@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? module)
}

const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
const used = new Map(files.flatMap((file) => packagesIn(file).map((name) => [name, file])))

test('every package that the program imports is in dependencies, and every dependency is imported', () => {
  const undeclared = [...used].filter(([name]) => !(name in dependencies)).map(([name, file]) => `${file} imports ${name}`)
  assert.deepEqual(undeclared, [])
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !used.has(name)),
    [],
  )
})

test('docs/dependencies.md gives a reason for every package, and names no other', () => {
  const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8')
  const sections = new Map(page.split(/^## /m).map((text) => [text.slice(0, text.indexOf('\n')), text]))
  const named = (section: string) =>
    [...(sections.get(section) ?? '').matchAll(/^\| (`.+?`) \| \S.{10}/gm)]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
      .map(([, name]) => name)
      .sort()
  assert.deepEqual(named('At run time'), Object.keys({ ...dependencies, ...optionalDependencies }).sort())
  assert.deepEqual(named('For development'), Object.keys(devDependencies).sort())
})
