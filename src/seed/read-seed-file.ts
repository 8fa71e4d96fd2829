import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { StartError } from '#platform/errors.ts'
import { codeOf } from '#platform/unavailable.ts'
import type { Seed } from './format.ts'
import { largestSeed, parseSeed } from './parse.ts'

export interface SeedFile {
  name: string
  seed: Seed
  digest: string
}

/** Reads and checks a seed, before anything is started. */
export function readSeedFile(name: string): SeedFile {
  const text = readText(name)
  return { name, seed: parseSeed(text, name), digest: createHash('sha256').update(text).digest('hex') }
}

function readText(name: string) {
  try {
    const { size } = statSync(name)
    if (size > largestSeed) throw new StartError(`${name} is larger than ${largestSeed >> 20} MB, the limit of a seed.`)
    return decode(readFileSync(name), name)
  } catch (error) {
    if (error instanceof StartError) throw error
    const code = codeOf(error) ?? ''
    throw new StartError(unreadable[code]?.(name) ?? `Cannot read the seed ${name} (${code}).`)
  }
}

const unreadable: Record<string, (name: string) => string> = {
  ENOENT: (name) => `There is no file ${resolve(name)}. Name the file of the seed, in YAML or JSON.`,
  ENOTDIR: (name) => `There is no file ${resolve(name)}. Name the file of the seed, in YAML or JSON.`,
  EISDIR: (name) => `${name} is a folder. Name the file of the seed in it, in YAML or JSON.`,
  EACCES: (name) => `${name} may not be read by this account. Change its permissions.`,
}

/** Otherwise, characters of another encoding would become `\u{FFFD}` in the database. */
function decode(bytes: Buffer, name: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Below.
  }
  throw new StartError(`${name} is not text in UTF-8. Save it as UTF-8, in YAML or JSON.`)
}
