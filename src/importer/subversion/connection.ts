import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { trimTrailing } from '#platform/trim.ts'
import { type DumpFile, openDumpStream, scanDumpFile } from './dump-file.ts'

type Tool = 'svn' | 'svnrdump'

/** In bytes. The answers are lists of folders. */
const maxPrinted = 64 << 20

const programs = process.env.PATH ?? '/usr/bin:/bin'

/** The folder is private, because it contains the user name and the password of the proxy. */
export async function connectTo(origin: Origin, network: Network, folder: string): Promise<Connection> {
  return origin.local && origin.url.startsWith('file:')
    ? openFileConnection(origin.url, network.signal)
    : openConnection(origin, network, folder)
}

async function openConnection(origin: Origin, { egress, signal }: Network, folder: string): Promise<Connection> {
  // Checked first, because later failures would cost more.
  if (!programs.split(':').some((place) => existsSync(join(place, 'svnrdump')))) throw notInstalled('svnrdump')
  const settings = join(folder, 'svn-settings')
  await rm(settings, { recursive: true, force: true })
  await mkdir(settings, { recursive: true, mode: 0o700 })
  const authorities = egress.certificates ? join(settings, 'authorities.pem') : null
  if (authorities) await writeFile(authorities, egress.certificates ?? '')
  await writeFile(join(settings, 'servers'), servers(egress.proxy, origin.username, authorities), { mode: 0o600 })
  const real = new URL(origin.url)
  const url = addressFor(real, real.protocol === 'svn:' ? await egress.tunnel(hostOf(real), portOf(real)) : undefined)
  const secret = origin.password
  if (/[\r\n]/.test(`${origin.username ?? ''}${secret ?? ''}`))
    throw new ImportFailure('A user name or password with a line end cannot be used.', 'auth')

  function start(tool: Tool, args: string[], target: string): ChildProcess {
    signal.throwIfAborted()
    const who = secret === null ? [] : ['--password-from-stdin']
    const child = spawn(tool, [...args, '--non-interactive', '--no-auth-cache', '--config-dir', settings, ...who, '--', target], {
      env: { PATH: programs, LC_ALL: 'C.UTF-8', HOME: '/nonexistent' },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(secret === null ? '' : `${secret}\n`)
    return child
  }

  function outcomeOf(tool: Tool, child: ChildProcess): Promise<void> {
    const stderr: Buffer[] = []
    child.stderr?.on('data', (chunk: Buffer) => stderr.length < 64 && stderr.push(chunk))
    return new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ENOENT' ? notInstalled(tool) : (signal.reason ?? error))
      })
      child.once('close', (status) => {
        if (status === 0) resolve()
        else reject(signal.reason ?? explain(Buffer.concat(stderr).toString(), origin.username !== null || secret !== null))
      })
    })
  }

  return {
    url,
    async svn(args: string[], target: string) {
      const child = start('svn', args, target)
      const printed: Buffer[] = []
      let size = 0
      child.stdout?.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxPrinted) printed.push(chunk)
        else child.kill()
      })
      await outcomeOf('svn', child)
      return Buffer.concat(printed).toString()
    },
    stream(args: string[], target: string) {
      const child = start('svn', args, target)
      const ended = outcomeOf('svn', child)
      ended.catch(() => {})
      return { output: child.stdout as Readable, ended, stop: () => void child.kill('SIGTERM') }
    },
    dump(args: string[], target: string) {
      const child = start('svnrdump', ['dump', '--quiet', ...args], target)
      const ended = outcomeOf('svnrdump', child)
      ended.catch(() => {})
      return { output: child.stdout as Readable, ended, stop: () => void child.kill('SIGTERM') }
    },
  }
}

/** Runs the programs of Subversion for one server, without user configuration, through the egress proxy. */
export interface Connection {
  /** The address for these programs, without a slash at the end. For svn:// it is a local tunnel. */
  url: string
  /** Set if the source is a file that `svnadmin dump` has written, for which no program of Subversion is needed. */
  file?: DumpFile
  /** Returns the output of `svn` for an address below the given one. */
  svn(args: string[], target: string): Promise<string>
  /** Starts `svn`, whose output is too long to keep. `ended` rejects if it fails. */
  stream(args: string[], target: string): { output: Readable; ended: Promise<void>; stop(): void }
  /** Starts `svnrdump dump`. `ended` rejects if it fails. A dump file is read as a whole, whatever the arguments. */
  dump(args: string[], target: string): { output: Readable; ended: Promise<void>; stop(): void }
}

async function openFileConnection(url: string, signal: AbortSignal): Promise<Connection> {
  const path = fileURLToPath(url)
  const file = await scanDumpFile(path, signal)
  return {
    url,
    file,
    svn: () => Promise.reject(new Error('a dump file has no server')),
    stream() {
      throw new Error('a dump file has no server')
    },
    dump() {
      const output = new PassThrough()
      const ended = openDumpStream(path).then((stream) => pipeline(stream ?? [], output, { signal }))
      ended.catch((error) => output.destroy(error))
      return { output, ended, stop: () => output.destroy() }
    },
  }
}

function notInstalled(tool: Tool) {
  return new ImportFailure(`${tool} is not installed on this server. Ask an administrator to install the package "subversion".`)
}

/** In a file, because all users of the machine can see the arguments of processes. */
function servers({ host, port, username, password }: Network['egress']['proxy'], who: string | null, authorities: string | null) {
  return [
    '[global]',
    ...(who ? [`username = ${who}`] : []),
    // In addition to the system's certificates.
    ...(authorities ? [`ssl-authority-files = ${authorities}`, 'ssl-trust-default-ca = yes'] : []),
    `http-proxy-host = ${host}`,
    `http-proxy-port = ${port}`,
    `http-proxy-username = ${username}`,
    `http-proxy-password = ${password}`,
    'http-auth-types = basic;digest',
    'http-timeout = 120',
    // With a known length, requests reuse a connection; chunked requests do not.
    'http-chunked-requests = no',
    'store-passwords = no',
    '',
  ].join('\n')
}

/** An svn:// server does not know its public name, so a tunnel works. */
function addressFor({ protocol, host, pathname }: URL, tunnel: number | undefined) {
  // Subversion would read the part after @ as a revision.
  const path = trimTrailing(pathname, '/').replaceAll('@', '%40')
  return tunnel === undefined ? `${protocol}//${host}${path}` : `svn://127.0.0.1:${tunnel}${path}`
}

export function hostOf({ hostname }: URL) {
  return hostname.replace(/^\[|\]$/g, '')
}

export function portOf({ port }: URL) {
  return port === '' ? 3690 : Number(port)
}

/** Turns an error of `svn` or `svnrdump` into a message for the user, by its error codes. */
function explain(stderr: string, known: boolean): ImportFailure {
  const has = (...codes: string[]) => codes.some((code) => stderr.includes(code))
  if (has('E170001', 'E215004', 'E175013', 'E220001')) {
    const words = known
      ? 'The Subversion server does not accept this user name and password, or this account may not read the repository.'
      : 'The Subversion server asks for a user name and a password.'
    return new ImportFailure(words, 'auth')
  }
  if (has('E230001')) return new ImportFailure('The certificate of the Subversion server is not trusted.')
  if (has('E160013', 'E170000', 'E200009', 'E160006', 'E180001'))
    return new ImportFailure('The Subversion server has nothing at this path.')
  if (has('E170013', 'E000111', 'E000110', 'E000113', 'E670002', 'E120171', 'E210002'))
    return new ImportFailure('The Subversion server is not reachable, or closed the connection. Restart the import to resume.')
  const [line = 'it gave no reason'] = stderr.split('\n').filter((text) => /^svn(rdump)?: E/.test(text))
  // The address in the text may be our tunnel.
  const words = line.replace(/^svn(rdump)?: (E\d+: )?/, '').replace(/'?\b(svn|https?):\/\/[^\s']*'?/g, 'the server')
  return new ImportFailure(`Subversion failed: ${words.slice(0, 300)}`)
}
