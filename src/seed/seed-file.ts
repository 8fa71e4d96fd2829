import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Belfry } from '#belfry.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import { accessFile } from './access-file.ts'
import type { Seed, SeedAccess } from './format.ts'
import { loadSeed, type SeedOptions } from './load.ts'
import { planSeed } from './plan.ts'
import type { SeedFile } from './read-seed-file.ts'

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
