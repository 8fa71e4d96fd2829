import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { authorization } from '#importer/probe-http.ts'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { Redirected } from '#platform/outbound/gateways.ts'
import { trimTrailing } from '#platform/trim.ts'
import { type DumpFile, openDumpStream, scanDumpFile } from './dump-file.ts'
import { writeSettings } from './settings.ts'

type Tool = 'svn' | 'svnrdump'

/** In bytes. The answers are lists of folders. */
const maxPrinted = 64 << 20

const programs = process.env.PATH ?? '/usr/bin:/bin'

export async function connectTo(origin: Origin, network: Network, folder: string): Promise<Connection> {
  return origin.local && origin.url.startsWith('file:')
    ? openFileConnection(origin.url, network.signal)
    : openConnection(origin, network, folder)
}

async function openConnection(origin: Origin, { egress, signal }: Network, folder: string): Promise<Connection> {
  // Checked first, because later failures would cost more.
  if (!programs.split(':').some((place) => existsSync(join(place, 'svnrdump')))) throw notInstalled('svnrdump')
  if (/[\r\n]/.test(`${origin.username ?? ''}${origin.password ?? ''}`))
    throw new ImportFailure('A user name or password with a line end cannot be used.', 'auth')
  const settings = await writeSettings(join(folder, 'svn-settings'))
  const { url, username, password, refusal } = await openLocalAddress(origin, egress)
  const prefix = url.slice(0, url.indexOf('/', url.indexOf('//') + 2) + 1) || `${url}/`
  const who = username ? ['--username', username] : []
  const secret = password === null ? [] : ['--password-from-stdin']

  function start(tool: Tool, args: string[], target: string): ChildProcess {
    signal.throwIfAborted()
    // These programs also open local files, other hosts and ssh, so they get nothing that the source names.
    if (target !== url && !target.startsWith(prefix)) throw elsewhere()
    const fixed = ['--non-interactive', '--no-auth-cache', '--config-dir', settings]
    const child = spawn(tool, [...args, ...fixed, ...who, ...secret, '--', target], {
      env: { PATH: programs, LC_ALL: 'C.UTF-8', HOME: '/nonexistent' },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(password === null ? '' : `${password}\n`)
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
        else reject(signal.reason ?? refusal(`${Buffer.concat(stderr)}`) ?? explain(`${Buffer.concat(stderr)}`, origin))
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

/** Runs the programs of Subversion for one server, without user configuration, through a local tunnel or gateway. */
export interface Connection {
  /** The address for these programs on loopback, without a slash at the end. */
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

/** The address of the source on loopback, and the account for it. `refusal` explains an error that we caused. */
async function openLocalAddress({ url, username, password }: Origin, egress: Network['egress']) {
  const real = new URL(url)
  // Subversion would read the part after @ as a revision.
  const path = trimTrailing(real.pathname, '/').replaceAll('@', '%40')
  if (real.protocol === 'svn:') {
    // A server does not know its public name, so a tunnel works.
    const port = await egress.tunnel(hostOf(real), portOf(real))
    return { url: `svn://127.0.0.1:${port}${path}`, username, password, refusal: () => undefined }
  }
  let failure: unknown
  const onFailure = (reason: unknown) => {
    failure = reason
  }
  // The gateway knows the password, so these programs need none for the source.
  const headers = authorization({ username, password })
  const gateway = await egress.gateway(real.origin, { headers, onFailure }).catch((error: unknown) => {
    throw explainRefusal(error)
  })
  return {
    url: `http://${gateway.host}${path}`,
    username: gateway.username,
    password: gateway.password,
    refusal: (stderr: string) => (/HTTP status (421|502)\b/.test(stderr) && failure ? explainRefusal(failure) : undefined),
  }
}

/** The address on the server of the source, for an address on loopback. */
export function remoteAddress({ url }: Origin, local: string) {
  return new URL(url).origin + new URL(local).pathname
}

export function hostOf({ hostname }: URL) {
  return hostname.replace(/^\[|\]$/g, '')
}

export function portOf({ port }: URL) {
  return port === '' ? 3690 : Number(port)
}

export function elsewhere() {
  return new ImportFailure(
    'The Subversion server names an address of another server, which is not followed. Import from the final address of the repository.',
  )
}

function explainRefusal(reason: unknown): ImportFailure {
  if (reason instanceof Redirected)
    return new ImportFailure(
      'The Subversion server redirects to another address, which is not followed. Import from the final address of the repository.',
    )
  const { code = '', message } = reason as NodeJS.ErrnoException
  if (code === 'FORBIDDEN_ADDRESS') return new ImportFailure(`This server may not connect there: ${message}.`)
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code))
    return new ImportFailure('The certificate of the Subversion server is not trusted.')
  return unreachable()
}

const unreachable = () =>
  new ImportFailure('The Subversion server is not reachable, or closed the connection. Restart the import to resume.')

/** Turns an error of `svn` or `svnrdump` into a message for the user, by its error codes. */
function explain(stderr: string, { username, password }: Origin): ImportFailure {
  const has = (...codes: string[]) => codes.some((code) => stderr.includes(code))
  if (has('E170001', 'E215004', 'E175013', 'E220001')) {
    const words =
      username !== null || password !== null
        ? 'The Subversion server does not accept this user name and password, or this account may not read the repository.'
        : 'The Subversion server asks for a user name and a password.'
    return new ImportFailure(words, 'auth')
  }
  if (has('E160013', 'E170000', 'E200009', 'E160006', 'E180001'))
    return new ImportFailure('The Subversion server has nothing at this path.')
  if (has('E170013', 'E000111', 'E000110', 'E000113', 'E670002', 'E120171', 'E210002')) return unreachable()
  // An assertion of the program.
  if (has('E235000')) return new ImportFailure('The Subversion server sent an invalid answer.')
  const [line = 'it gave no reason'] = stderr.split('\n').filter((text) => /^svn(rdump)?: E/.test(text))
  // The address in the text may be our tunnel.
  const words = line.replace(/^svn(rdump)?: (E\d+: )?/, '').replace(/'?\b(svn|https?):\/\/[^\s']*'?/g, 'the server')
  return new ImportFailure(`Subversion failed: ${words.slice(0, 300)}`)
}
