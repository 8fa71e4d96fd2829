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
  ['settings', /^config\.ts$/],
  ['activity', /^activity\//],
  ['hosting', /^hosting\/(?!.*(\/(api|pages|jobs)\.ts$|\/views\/))/],
  ['parts', /^parts\/(?!.*(\/(api|pages|jobs)\.ts$|\/views\/))/],
  ['what is running', /^belfry\.ts$/],
  ['http and web', /^(http|web)\//],
  ['edges', /\/(api|pages|jobs)\.ts$|\/views\//],
  ['the program', /^(demo\/)?[a-z]+\.ts$/],
]

function layerOf(file: string) {
  return layers.findIndex(([, files]) => files.test(file))
}

const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'))

function importsOf(file: string) {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/(?:from|import\()\s*'([#.][^']+)'/g)].map(([, name = '']) =>
    name.startsWith('#') ? name.slice(1) : relative(source, join(source, dirname(file), name)),
  )
}

test('imports point down only', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => layerOf(imported) > layerOf(file))
      .map((imported) => `${file} (${layers[layerOf(file)]?.[0]}) imports ${imported} (${layers[layerOf(imported)]?.[0]})`),
  )
  assert.deepEqual(wrong, [])
})

test('every file has a layer, and no name says nothing', () => {
  assert.ok(files.length > 50)
  assert.deepEqual(
    files.filter((file) => layerOf(file) < 0 || /(^|\/)(utils?|helpers?|types|common|misc|service|manager)\.ts$/.test(file)),
    [],
  )
})

test('no rule asks the wall clock', () => {
  const rules = files.filter((file) => /^(activity|hosting|parts|http|web)\//.test(file))
  const asking = rules.filter((file) =>
    /Date\.now\(|new Date\(\)|(?<!clock\.|performance\.)\bnow\(\)/.test(readFileSync(join(source, file), 'utf8')),
  )
  assert.deepEqual(asking, [])
})
