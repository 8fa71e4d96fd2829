import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateFile } from '#test/certificates.ts'
import { freePort } from '#test/machine.ts'
import { needs } from '#test/needs.ts'

needs({
  svnserve: 'subversion',
  '/usr/sbin/apache2': 'apache2',
  '/usr/lib/apache2/modules/mod_dav_svn.so': 'libapache2-mod-svn',
})

export const username = 'ada'
export const password = 'correct horse battery'

export interface SvnServer extends AsyncDisposable {
  /** With a slash at its end; repositories follow by name. */
  url: string
}

/** A folder that servers can read as any user. The run's folder is in memory if possible, because each revision waits for the disk. */
export async function openSvnFolder() {
  const path = await mkdtemp(join(tmpdir(), 'belfry-svn-'))
  await chmod(path, 0o755)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Serves the repositories of a folder over svn://, optionally with a password and access rules. */
export async function startSvnserve(folder: string, { secret = false, rules = '', user = username } = {}): Promise<SvnServer> {
  const own = await openSvnFolder()
  const users = join(own.path, 'users')
  await writeFile(users, `[users]\n${user} = ${password}\n`)
  const settings = join(own.path, 'svnserve.conf')
  const access = secret ? 'anon-access = none\nauth-access = read' : 'anon-access = read'
  const ruled = rules === '' ? '' : `authz-db = ${join(own.path, 'rules')}\n`
  await writeFile(join(own.path, 'rules'), rules)
  await writeFile(settings, `[general]\n${access}\npassword-db = ${users}\nrealm = test\n${ruled}`)
  const port = await freePort()
  const where = ['--listen-host', '127.0.0.1', '--listen-port', String(port)]
  const child = spawn(
    'svnserve',
    ['--daemon', '--foreground', '--threads', ...where, '--config-file', settings, '--root', folder],
    {
      stdio: 'ignore',
    },
  )
  return serve(child, port, own, `svn://127.0.0.1:${port}/`)
}

const modules = '/usr/lib/apache2/modules'

interface Serving {
  secret?: boolean
  /** Over https://, with a test certificate. */
  certificate?: string
}

/** Serves the repositories of a folder over http://, optionally with a password. */
export async function startApache(folder: string, { secret = false, certificate }: Serving = {}): Promise<SvnServer> {
  const own = await openSvnFolder()
  const port = await freePort()
  const users = join(own.path, 'users')
  await writeFile(users, `${username}:{SHA}${createHash('sha1').update(password).digest('base64')}\n`)
  const loaded = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'dav', 'dav_svn']
  const secured = certificate && [
    `LoadModule ssl_module ${modules}/mod_ssl.so`,
    'SSLEngine on',
    `SSLCertificateFile "${certificateFile(certificate)}"`,
    `SSLCertificateKeyFile "${certificateFile('localhost').replace('.pem', '.key')}"`,
  ]
  const settings = [
    ...loaded.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`),
    // Apache started by root always drops its privileges.
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    `ServerRoot "${own.path}"`,
    `DefaultRuntimeDir "${own.path}"`,
    `PidFile "${own.path}/pid"`,
    `ErrorLog "${own.path}/errors"`,
    'ServerName 127.0.0.1',
    `Listen 127.0.0.1:${port}`,
    'StartServers 1',
    ...(secured || []),
    'KeepAlive On',
    'MaxKeepAliveRequests 0',
    '<Location /svn>',
    '  DAV svn',
    `  SVNParentPath "${folder}"`,
    '  AuthType Basic',
    '  AuthName test',
    `  AuthUserFile "${users}"`,
    `  Require ${secret ? 'valid-user' : 'all granted'}`,
    '</Location>',
  ]
  await writeFile(join(own.path, 'httpd.conf'), settings.join('\n'))
  const child = spawn('/usr/sbin/apache2', ['-f', join(own.path, 'httpd.conf'), '-DFOREGROUND'], { stdio: 'ignore' })
  return serve(child, port, own, `${secured ? 'https' : 'http'}://127.0.0.1:${port}/svn/`)
}

async function serve(child: ChildProcess, port: number, own: AsyncDisposable, url: string): Promise<SvnServer> {
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await own[Symbol.asyncDispose]()
  }
  for (let tries = 0; !(await answers(port)); tries++) {
    if (child.exitCode !== null || tries > 500) {
      await stop()
      throw new Error(`${url} does not answer`)
    }
    await new Promise((later) => setTimeout(later, 10))
  }
  return { url, [Symbol.asyncDispose]: stop }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
