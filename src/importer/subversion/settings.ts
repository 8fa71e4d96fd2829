import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Read by Subversion's programs in addition to the folder that `--config-dir` names. */
const machineWide = '/etc/subversion/config'

const servers = `[global]
http-proxy-exceptions = 127.0.0.1
http-auth-types = basic
http-timeout = 120
# With a known length, requests reuse a connection; chunked requests do not.
http-chunked-requests = no
store-passwords = no
`

/** Makes a configuration folder for `svn` and `svnrdump` in which no program can be started. Nothing in it comes from the source or its user. */
export async function writeSettings(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = new Set(['ssh', 'rsh', ...tunnelsIn(await readFile(machineWide, 'utf8').catch(() => ''))])
  const tunnels = [...names].map((name) => `${name} = /bin/false\n`).join('')
  await writeFile(join(folder, 'config'), `[auth]\npassword-stores =\n[tunnels]\n${tunnels}`)
  await writeFile(join(folder, 'servers'), servers)
  return folder
}

function tunnelsIn(config: string): string[] {
  const [, after = ''] = config.split(/^\[tunnels\]/m)
  const [section = ''] = after.split(/^\[/m)
  return [...section.matchAll(/^([\w.-]+)[ \t]*[=:]/gm)].map(([, name = '']) => name)
}
