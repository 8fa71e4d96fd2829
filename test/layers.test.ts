import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const source = join(import.meta.dirname, '..', 'src')

/** From the ground up. A file may import from its own layer and from those before it. */
const layers: [name: string, files: RegExp][] = [
  ['constants', /^(variants)\.ts$/],
  ['platform', /^platform\//],
  ['git', /^git\//],
  ['importer', /^importer\//],
  ['conformance', /^conformance\//],
  ['settings', /^config\.ts$/],
  ['activity', /^activity\//],
  ['identity', /^identity\//],
  ['server', /^belfry\.ts$/],
  ['http and web', /^(http|web)\//],
  ['hosting', /^hosting\/(?!.*\/(api|pages|jobs)\.ts$)/],
  ['parts', /^parts\/(?!.*\/(api|pages|jobs)\.ts$)/],
  ['edges', /\/(api|pages|jobs)\.ts$/],
  ['the program', /^((demo|cli|seed|testing)\/.+|[a-z]+)\.ts$/],
]

function layerOf(file: string) {
  return layers.findIndex(([, files]) => files.test(file))
}

const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'))

/** Type imports too. */
function importsOf(file: string) {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/(?:from|import\()\s*'([#.][^']+)'/g)].map(([, name = '']) =>
    name.startsWith('#') ? name.slice(1) : relative(source, join(source, dirname(file), name)),
  )
}

const graph = new Map(files.map((file) => [file, importsOf(file)]))

test('imports point down only', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => layerOf(imported) > layerOf(file))
      .map((imported) => `${file} (${layers[layerOf(file)]?.[0]}) imports ${imported} (${layers[layerOf(imported)]?.[0]})`),
  )
  assert.deepEqual(wrong, [])
})

/** Cycles within these folders are known and are being removed; remove a line with its last cycle, and never add one. */
const knownCycles = [/^parts\/webhooks\//]

test('no files import each other in a circle', () => {
  const cycles = findCycles(graph).filter((cycle) => !knownCycles.some((known) => cycle.every((file) => known.test(file))))
  assert.deepEqual(cycles, [])
})

test('a cycle of imports is found', () => {
  const looped = new Map([
    ['main', ['first']],
    ['first', ['second', 'leaf']],
    ['second', ['third']],
    ['third', ['first']],
    ['leaf', []],
  ])
  assert.deepEqual(findCycles(looped), [['first', 'second', 'third']])
})

/** Tarjan's strongly connected components, those of more than one file. */
function findCycles(imports: Map<string, string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): number => {
    const own = index.size
    index.set(file, own)
    low.set(file, own)
    stack.push(file)
    for (const imported of imports.get(file) ?? []) {
      if (!imports.has(imported)) continue
      const reached = index.has(imported) ? (stack.includes(imported) ? index.get(imported) : undefined) : visit(imported)
      low.set(file, Math.min(low.get(file) ?? own, reached ?? own))
    }
    if (low.get(file) === own) {
      const component = stack.splice(stack.indexOf(file))
      if (component.length > 1) cycles.push(component.sort())
    }
    return low.get(file) ?? own
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file)
  return cycles
}

test('every file has a layer and a name that says what it holds', () => {
  assert.ok(files.length > 50)
  assert.deepEqual(
    files.filter((file) => layerOf(file) < 0 || /(^|\/)(utils?|helpers?|types|common|misc|service|manager)\.ts$/.test(file)),
    [],
  )
})

test('rules use the injected clock, not the wall clock', () => {
  const rules = files.filter((file) => /^(activity|identity|hosting|parts|http|web)\//.test(file))
  const asking = rules.filter((file) =>
    /Date\.now\(|new Date\(\)|(?<!clock\.|performance\.)\bnow\(\)/.test(readFileSync(join(source, file), 'utf8')),
  )
  assert.deepEqual(asking, [])
})
