import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { ImportFailure, type Kind, type Origin } from '#importer/source.ts'
import { openDumpStream } from '#importer/subversion/dump-file.ts'

/** A source on this machine: how the importer reaches it until this is disposed of. */
export interface LocalSource extends AsyncDisposable {
  vcs: Kind
  origin: Pick<Origin, 'url' | 'username' | 'password' | 'local'>
}

/**
 * Opens a repository folder or a dump file. Subversion and Mercurial are read through their own servers on loopback, because their formats
 * on disk change between versions; only this process knows the password or the address. `folder` is private.
 */
export async function openLocalSource(path: string, folder: string): Promise<LocalSource> {
  if (statSync(path).isFile()) return openFile(path)
  const has = (...names: string[]) => names.every((name) => existsSync(join(path, name)))
  if (has('.hg')) return serveMercurial(path, folder)
  if (has('format', 'db', 'locks')) return serveSubversion(path, folder)
  if (has('.git') || has('HEAD', 'objects', 'refs')) return atPath('git', path)
  if (has('.svn'))
    throw new ImportFailure(
      `${path} is a working copy of Subversion. Name the address that svn info prints as "Repository Root".`,
    )
  throw new ImportFailure(`${path} is not a repository of Subversion, Mercurial or git.`)
}

async function openFile(path: string): Promise<LocalSource> {
  const stream = await openDumpStream(path)
  stream?.destroy()
  if (!stream) throw new ImportFailure(`${path} is not a Subversion dump. Make one with: svnadmin dump REPOSITORY > FILE.`)
  return atPath('subversion', path)
}

function atPath(vcs: Kind, path: string): LocalSource {
  const origin = { url: pathToFileURL(path).href, username: null, password: null, local: true }
  return { vcs, origin, async [Symbol.asyncDispose]() {} }
}

const username = 'belfry'

/** A process for each connection, as from inetd: the program itself cannot choose a free port. */
async function serveSubversion(path: string, folder: string): Promise<LocalSource> {
  const password = randomBytes(24).toString('base64url')
  const settings = join(folder, 'svnserve.conf')
  const users = join(folder, 'svnserve.users')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(users, `[users]\n${username} = ${password}\n`, { mode: 0o600 })
  await writeFile(settings, `[general]\nanon-access = none\nauth-access = read\npassword-db = ${users}\nrealm = belfry\n`)
  const args = ['--inetd', '--read-only', '--config-file', settings, '--root', dirname(path)]
  const open = new Map<Socket, ChildProcess>()
  const server = createServer((socket) => {
    const child = spawn('svnserve', args, { stdio: ['pipe', 'pipe', 'ignore'] })
    open.set(socket, child)
    socket.pipe(child.stdin)
    child.stdout.pipe(socket)
    const end = () => {
      open.delete(socket)
      socket.destroy()
      child.kill()
    }
    for (const stream of [socket, child, child.stdin, child.stdout]) stream.on('error', end)
    socket.once('close', end)
  })
  await checkInstalled('svnserve', 'subversion')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `svn://127.0.0.1:${(server.address() as AddressInfo).port}/${encodeURIComponent(basename(path))}`
  return {
    vcs: 'subversion',
    origin: { url, username, password },
    async [Symbol.asyncDispose]() {
      for (const [socket, child] of open) {
        socket.destroy()
        child.kill()
      }
      server.close()
      await once(server, 'close')
    },
  }
}

async function checkInstalled(program: string, name: string) {
  const child = spawn(program, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit').catch(() => {
    throw new ImportFailure(`${program} is not installed on this machine, and it is needed to read this folder. Install ${name}.`)
  })
}

/** Runs a program that ends with this process, even if it is killed. */
const untilInputEnds = 'exec 3<&0; (read -r _ <&3; kill $$) >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'

/** Mercurial's server knows no passwords, but answers only below a prefix, which is in a private file. */
async function serveMercurial(path: string, folder: string): Promise<LocalSource> {
  const prefix = randomBytes(24).toString('hex')
  const settings = join(folder, 'hgrc')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(settings, `[web]\nprefix = ${prefix}\naccesslog = /dev/null\n`, { mode: 0o600 })
  await checkInstalled('hg', 'mercurial')
  const serve = ['--cwd', path, '-R', '.', 'serve', '--address', '127.0.0.1', '--port', '0']
  const child = spawn('sh', ['-c', untilInputEnds, 'sh', 'hg', ...serve], {
    env: { ...process.env, HGPLAIN: '1', HGRCPATH: settings, HGENCODING: 'UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.length < 20 && said.push(text))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /:(\d+)\//.exec(line) ?? []
    if (port === undefined) continue
    return {
      vcs: 'mercurial',
      origin: { url: `http://127.0.0.1:${port}/${prefix}`, username: null, password: null },
      async [Symbol.asyncDispose]() {
        child.stdin.end()
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      },
    }
  }
  child.stdin.end()
  throw new ImportFailure(`Mercurial cannot read ${path}: ${said.join('').trim().slice(0, 300) || 'it gave no reason'}`)
}
