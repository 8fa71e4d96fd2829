import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { explain } from './svn-errors.ts'

/** Runs Subversion's own programs against one server, with nothing of a user's settings and by no way but ours. */
export interface Connection {
  /** What `svn` prints for an address below the one that was given. */
  svn(args: string[], url: string): Promise<string>
  /** Starts `svnrdump dump`; its end is to be waited for by `ended`, which rejects when it did not go well. */
  dump(args: string[], url: string): { output: Readable; ended: Promise<void>; stop(): void }
  /** As these programs are to call it: for svn:// that is a way through us. No slash at its end. */
  url: string
}

type Tool = 'svn' | 'svnrdump'

/** What is asked of `svn` is answered in less: lists of folders. */
const maxPrinted = 64 << 20

const programs = process.env.PATH ?? '/usr/bin:/bin'

/** What is kept there is private: the user's name is in it, and the proxy's password. */
export async function connectTo(origin: Origin, { egress, signal }: Network, folder: string): Promise<Connection> {
  // Said before much is done for nothing.
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
    throw new ImportFailure('A user name or password with a line end in it cannot be used.', 'auth')

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
    const complaint: Buffer[] = []
    child.stderr?.on('data', (chunk: Buffer) => complaint.length < 64 && complaint.push(chunk))
    return new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ENOENT' ? notInstalled(tool) : (signal.reason ?? error))
      })
      child.once('close', (status) => {
        if (status === 0) resolve()
        else reject(signal.reason ?? explain(Buffer.concat(complaint).toString(), origin.username !== null || secret !== null))
      })
    })
  }

  return {
    url,
    async svn(args, target) {
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
    dump(args, target) {
      const child = start('svnrdump', ['dump', '--quiet', ...args], target)
      const ended = outcomeOf('svnrdump', child)
      ended.catch(() => {})
      return { output: child.stdout as Readable, ended, stop: () => child.kill('SIGTERM') }
    },
  }
}

function notInstalled(tool: Tool) {
  return new ImportFailure(`${tool} is not installed on this server: whoever runs it must install the package "subversion".`)
}

/** Whoever may list the processes of this machine sees their arguments: nothing of who we are is among them. */
function servers({ host, port, username, password }: Network['egress']['proxy'], who: string | null, authorities: string | null) {
  return [
    '[global]',
    ...(who ? [`username = ${who}`] : []),
    // Besides those that the system trusts.
    ...(authorities ? [`ssl-authority-files = ${authorities}`, 'ssl-trust-default-ca = yes'] : []),
    `http-proxy-host = ${host}`,
    `http-proxy-port = ${port}`,
    `http-proxy-username = ${username}`,
    `http-proxy-password = ${password}`,
    'http-auth-types = basic;digest',
    'http-timeout = 120',
    // A request whose length is known goes by a connection that is kept, any other by one of its own.
    'http-chunked-requests = no',
    'store-passwords = no',
    '',
  ].join('\n')
}

/** A server that is asked by svn:// does not know by which name it was called. */
function addressFor({ protocol, host, pathname }: URL, tunnel: number | undefined) {
  // What follows an @ would be taken for a revision.
  const path = pathname.replace(/\/+$/, '').replaceAll('@', '%40')
  return tunnel === undefined ? `${protocol}//${host}${path}` : `svn://127.0.0.1:${tunnel}${path}`
}

export function hostOf({ hostname }: URL) {
  return hostname.replace(/^\[|\]$/g, '')
}

export function portOf({ port }: URL) {
  return port === '' ? 3690 : Number(port)
}
