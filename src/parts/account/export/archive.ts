import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Belfry } from '#belfry.ts'
import { openBundle } from '#git/bundle.ts'
import { withSlotsOf } from '#git/slots.ts'
import type { Account } from '#identity/accounts.ts'
import { findDelivery } from '#identity/two-factor.ts'
import { sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { tarEnd, tarEntry } from '#platform/tar.ts'
import { accountRecords } from './account-records.ts'
import { readMe } from './read-me.ts'
import { type Records, readPages } from './records.ts'
import { type OwnRepository, ownRepositories, repositoryRecords } from './repository-records.ts'

/**
 * Bytes of a file. A tar archive names the size of a file before its content, so a file is in memory until it is complete, and what is
 * longer is split into several.
 */
const longestFile = 8 << 20

const root = 'belfry-export'

/** How many archives a node makes at a time. Each takes some 20 MB, and a connection to the database for a moment. */
const mostAtOnce = 4

const running = new WeakMap<Belfry, Set<number>>()

function usersOf(belfry: Belfry): Set<number> {
  const users = running.get(belfry) ?? new Set()
  running.set(belfry, users)
  return users
}

/** Refuses a second archive of a user while the first is made. */
export function checkFree(belfry: Belfry, user: Account) {
  const users = usersOf(belfry)
  if (users.has(user.id)) {
    throw new Refusal('rate_limited', 'An archive of yours is being downloaded. Wait until it is complete, or cancel it.')
  }
  if (users.size >= mostAtOnce) {
    throw new Refusal('unavailable', 'The server is making archives for others. Try again in a few minutes.')
  }
}

/**
 * The archive of a user as a stream. It is made while the client reads it, a few megabytes at a time. If something fails, or the account is
 * suspended meanwhile, the stream breaks off.
 */
export function openExport(belfry: Belfry, user: Account): Readable {
  checkFree(belfry, user)
  const users = usersOf(belfry)
  users.add(user.id)
  const entries = Readable.from(writeArchive(belfry, user), { objectMode: false })
  const gzip = createGzip()
  // Unread output is dropped when the client leaves.
  gzip.once('close', () => {
    users.delete(user.id)
    entries.destroy()
  })
  entries.once('error', (error) => gzip.destroy(error))
  return entries.pipe(gzip)
}

async function* writeArchive(belfry: Belfry, user: Account): AsyncGenerator<Buffer, void, void> {
  const { db } = belfry
  const at = db.now
  const entry = (path: string, content: Buffer | string) => tarEntry(`${root}/${path}`, Buffer.from(content), at)
  const files = async function* (path: string, records: Records) {
    await checkActive(belfry, user)
    for await (const [name, content] of split(`${path}${records.name}`, '.jsonl', linesOf(readPages(db, records)))) {
      yield entry(name, content)
    }
  }
  yield entry('README.txt', readMe(belfry, user, at))
  yield entry('profile.json', `${JSON.stringify(await profileOf(belfry, user), null, 2)}\n`)
  for (const records of accountRecords(db, user)) yield* files('', records)
  for await (const page of readPages(db, ownRepositories(user))) {
    for (const repo of page as OwnRepository[]) {
      const folder = `repositories/${repo.name}/`
      yield entry(`${folder}repository.json`, `${JSON.stringify(repo, null, 2)}\n`)
      for (const records of repositoryRecords(repo)) yield* files(folder, records)
      yield* bundleFiles(belfry, user, repo, (name, content) => entry(`${folder}${name}`, content))
    }
  }
  yield tarEnd
}

/** A repository that cannot be read now is missing from the archive, with a file that says so. */
async function* bundleFiles(
  { storage }: Belfry,
  user: Account,
  repo: OwnRepository,
  entry: (name: string, content: Buffer | string) => Buffer,
) {
  // A bundle takes as long as a clone, so it waits for the same slots.
  const bundle = await withSlotsOf(storage.fetching, { user_id: user.id }, () => openBundle(storage, repo)).catch((error) => {
    if (error instanceof Refusal) return error
    throw error
  })
  if (bundle instanceof Refusal) {
    yield entry('bundle-is-missing.txt', `${bundle.message} Or clone the repository with git.\n`)
    return
  }
  if (!bundle) return
  try {
    for await (const [name, content] of split('repository', '.bundle', bundle)) yield entry(name, content)
  } finally {
    bundle.destroy()
  }
}

async function* linesOf(pages: AsyncIterable<object[]>): AsyncGenerator<Buffer, void, void> {
  for await (const page of pages) yield Buffer.from(page.map((row) => `${JSON.stringify(row)}\n`).join(''))
}

/** The content of one file, or of several numbered ones. Without content there is no file. */
async function* split(path: string, suffix: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<[string, Buffer], void, void> {
  let [open, size, part]: [Buffer[], number, number] = [[], 0, 0]
  const numbered = () => `${path}-${String(++part).padStart(4, '0')}${suffix}`
  for await (const chunk of chunks) {
    if (size && size + chunk.length > longestFile) {
      yield [numbered(), Buffer.concat(open)]
      ;[open, size] = [[], 0]
    }
    open.push(chunk)
    size += chunk.length
  }
  if (size) yield [part ? numbered() : `${path}${suffix}`, Buffer.concat(open)]
}

async function profileOf({ db }: Belfry, user: Account) {
  const { member_access: _, members_can_fork_private_repositories: __, suspended_at: ___, ...profile } = user
  const preferences = await db.first(sql`
    select watches_created, watches_given from watching_preferences where user_id = ${user.id}`)
  return { ...profile, two_factor: (await findDelivery(db, user)) ?? null, watching_preferences: preferences ?? null }
}

async function checkActive({ db }: Belfry, user: Account) {
  const active = await db.first(sql`select from accounts where id = ${user.id} and suspended_at is null`)
  if (!active) throw new Error(`the account ${user.login} was suspended or deleted during its export`)
}
