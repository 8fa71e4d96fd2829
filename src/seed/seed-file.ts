import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Belfry } from '#belfry.ts'
import { codeOf, type Queryable, sql } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import { accessFile } from './access-file.ts'
import type { Seed, SeedAccess } from './format.ts'
import { loadSeed, type SeedOptions } from './load.ts'
import { largestSeed, parseSeed } from './parse.ts'
import { planSeed } from './plan.ts'

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

interface State {
  digest: string
  finished: boolean
}

/**
 * Loads a seed into an empty Belfry. Returns null when this seed was loaded before; then nothing changes. Another Belfry that is not empty is
 * refused, because its users are at work.
 */
export async function seedOnce(
  belfry: Belfry,
  { name, seed, digest }: SeedFile,
  options: SeedOptions,
): Promise<SeedAccess | null> {
  const path = join(belfry.settings.BELFRY_DATA, 'seed.json')
  const empty = await isEmpty(belfry.db)
  const state: State | undefined = !empty && existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
  if (state && !state.finished)
    throw new StartError(`The load of a seed did not finish, so the database has a part of it. ${elsewhere}`)
  if (state?.digest === digest) return null
  if (state) throw new StartError(`The database has another seed than ${name}, or a former version of it. ${elsewhere}`)
  if (!empty) throw new StartError(`The database already has users, and a seed is loaded into an empty one only. ${elsewhere}`)
  checkPast(belfry, name, seed)
  const write = (state: State) => writeFileSync(path, JSON.stringify(state))
  write({ digest, finished: false })
  const access = await loadSeed(belfry, seed, options).catch((error) => {
    throw error instanceof StartError
      ? new StartError(`${error.message}\nThe database has a part of the seed now. ${elsewhere}`)
      : error
  })
  writeFileSync(accessFile(belfry), `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600 })
  write({ digest, finished: true })
  return access
}

const elsewhere = 'Start with another folder in BELFRY_DATA (and another database in DATABASE_URL), or without --seed.'

const isEmpty = async (db: Queryable) =>
  !(await db.query(sql`select from accounts where type <> 'Bot' and lower(login) not in ('admin', 'ghost') limit 1`)).rowCount

/** Timelines do not expect acts of the future. */
function checkPast({ db }: Belfry, name: string, seed: Seed) {
  const last = planSeed(seed).steps.at(-1)?.at
  if (last && last > db.now)
    throw new StartError(`${name} ends at ${last.toISOString()}, which is in the future. Change its dates.`)
}
