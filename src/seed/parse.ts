import { type Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { StartError } from '#platform/errors.ts'
import { findFaults, SeedError } from './check.ts'
import type { Seed } from './format.ts'
import type { Path } from './path.ts'
import { spell } from './path.ts'
import { setSource } from './source.ts'
import { explainAlias, explainYaml } from './yaml-errors.ts'

/** In bytes. */
export const largestSeed = 10 << 20

/** Reads YAML or JSON. Errors name the file and the line, all of them at once up to a limit. */
export function parseSeed(text: string, name: string): Seed {
  if (Buffer.byteLength(text) > largestSeed)
    throw new StartError(`${name} is larger than ${largestSeed >> 20} MB, the limit of a seed.`)
  if (!text.trim()) throw new StartError(`${name} is empty. ${firstKeys}`)
  const file: Parsed = parseFast(text) ?? parseLocated(text, name)
  const locate = (path: Path) => {
    file.locate ??= parseLocated(text, name).locate
    return file.locate(path)
  }
  const faults = findFaults(file.value)
  if (faults.length) throw new SeedError(faults, name, locate)
  const seed = file.value as Seed
  setSource(seed, { name, locate })
  return seed
}

/** For files that are no seed at all. */
const firstKeys = `A seed has keys such as "users:" and "repositories:", see docs/seed.md.`

interface Parsed {
  value: unknown
  locate?: (path: Path) => string
}

/** JSON without its lines, because YAML takes 30 times as long. They are looked for when there is an error. */
function parseFast(text: string): Parsed | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function parseLocated(text: string, name: string): Required<Parsed> {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const wrong = [...document.errors, ...document.warnings]
  if (wrong.length) {
    const lines = wrong
      .slice(0, 10)
      .map(({ pos, message }) => `  ${name}:${lineCounter.linePos(pos[0]).line}: ${explainYaml(message)}`)
    throw new StartError([`${name} is not valid YAML or JSON:`, ...lines].join('\n'))
  }
  const locate = (path: Path) => {
    const offset = offsetOf(document, path)
    return `${name}:${lineCounter.linePos(offset).line}${path.length ? ` ${spell(path)}` : ''}`
  }
  try {
    // An alias that repeats itself many times over is refused here.
    const value = document.toJS({ maxAliasCount: 100 })
    if (value == null) throw new StartError(`${name} is empty: it has comments only. ${firstKeys}`)
    return { value, locate }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`${name} is not valid YAML:\n  ${explainAlias((error as Error).message, text, name)}`)
  }
}

/** Where the key or the item stands; of something that is missing, what should have it. */
function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents
  let offset = (document.contents as Node | null)?.range?.[0] ?? 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === step)
      if (!isPair(pair)) return offset
      offset = (pair.key as Node).range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      offset = (node as Node | undefined)?.range?.[0] ?? offset
    } else return offset
  }
  return offset
}
