import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Belfry } from '#belfry.ts'
import { createUser } from '#hosting/people/people.ts'
import { StartError } from '#platform/errors.ts'
import { Vault } from '#platform/vault.ts'
import type { Seed } from '#seed/format.ts'
import { loadSeed } from '#seed/load.ts'
import { setUp } from '#setup.ts'
import type { WorldAccess } from '../protocol.ts'
import type { Cluster } from './cluster.ts'
import { openBelfry, type WorldParts } from './open-belfry.ts'
import { copyFolder } from './prepared-cluster.ts'
import { putBackFiles } from './seeded-files.ts'
import { saveRows } from './seeded-rows.ts'
import { settle } from './settle.ts'

export type SeededAccess = Omit<WorldAccess, 'url' | 'versioned_url' | 'control'>

/** A seeded state. Worlds with the same seed share one, and every generation is a copy of it. */
export class Template {
  /** Servers can be opened before the state is there, but not use it. */
  readonly access: Promise<SeededAccess>
  /** Copies have the same key. */
  readonly vault: Vault
  readonly #cluster: Cluster
  readonly #name: string
  readonly #folder: string

  constructor(parts: WorldParts, name: string, seed: Seed | undefined) {
    this.#cluster = parts.cluster
    this.#name = name
    this.#folder = join(parts.cluster.folder, name)
    mkdirSync(this.#folder)
    this.vault = new Vault(this.#folder)
    this.access = this.#make(parts, seed)
    // Each world that copies it reports the error.
    this.access.catch(() => {})
  }

  async #make(parts: WorldParts, seed: Seed | undefined) {
    await this.#cluster.copyDatabase('belfry', this.#name)
    const belfry = openBelfry(parts, this.#name, this.#folder, this.vault)
    const made = seedBelfry(belfry, seed)
    // A database that has sessions cannot be copied.
    const access = await made.finally(() => belfry.db[Symbol.asyncDispose]())
    await saveRows(this.#cluster.connectionTo(this.#name))
    return access
  }

  /** Makes the files of a copy as they were. */
  putBackFiles(folder: string) {
    putBackFiles(this.#folder, folder)
  }

  async copy(name: string, folder: string) {
    await this.access
    await Promise.all([this.#cluster.copyDatabase(this.#name, name), copyFolder(this.#folder, folder)])
  }
}

async function seedBelfry(belfry: Belfry, seed: Seed | undefined): Promise<SeededAccess> {
  // Without a password: hashing one would take a tenth of a start.
  const { id, login } = await belfry.db.transaction((db) =>
    createUser(db, { login: 'admin', email: null, password_hash: null, site_admin: true }),
  )
  await setUp(belfry)
  const admin_token = belfry.settings.BELFRY_ADMIN_TOKEN ?? ''
  const admin = { login, id, token: admin_token }
  if (!seed) return { admin_token, users: { admin }, tokens: {}, oauth_applications: {}, apps: {} }
  const { users, tokens, oauth_applications, apps, ends_at } = await loadSeed(belfry, seed)
  if (belfry.clock.now() < ends_at) {
    const message = `The clock is ${belfry.clock.now().toISOString()}, but the seed goes on until ${ends_at.toISOString()}.`
    throw new StartError(`${message} Choose a later time, or change the dates of the seed.`)
  }
  await settle(belfry)
  return { admin_token, users: { admin, ...users }, tokens, oauth_applications, apps }
}
