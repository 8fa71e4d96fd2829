import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { type Bounds, streamGit } from '#git/run-git.ts'
import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { toleratedFaults } from '#importer/staging/check-packs.ts'
import { explain } from './git-errors.ts'

/** Answers from its environment, and only for the host of the source. */
const askpass = `#!/bin/sh
case "$1" in *"//$BELFRY_SOURCE_HOST'"* | *"@$BELFRY_SOURCE_HOST'"*) ;; *) exit 1 ;; esac
case "$1" in
Username*) printf '%s\\n' "$BELFRY_SOURCE_USERNAME" ;;
Password*) printf '%s\\n' "$BELFRY_SOURCE_PASSWORD" ;;
esac
`

/** In bytes of output: about a million refs. */
const maxNamesSize = 100 << 20

/** Runs a git command that connects to the source. The address is an argument; secrets are in the environment. */
export async function connectGit(origin: Origin, workspace: Workspace, args: string[], bounds: Partial<Bounds> = {}) {
  const settings = await environmentFor(origin, workspace)
  const output: Buffer[] = []
  let size = 0
  try {
    const running = { signal: workspace.signal, settings, detached: false, ...bounds }
    for await (const chunk of streamGit(workspace.repository, args, running)) {
      output.push(chunk)
      size += chunk.length
      if (size > maxNamesSize) throw new ImportFailure('The source has more branches and tags than can be imported.')
    }
  } catch (error) {
    workspace.signal.throwIfAborted()
    throw explain(error, origin)
  }
  return Buffer.concat(output)
}

async function environmentFor(
  { url, username, password, local }: Origin,
  { folder, egress: { proxy, certificates } }: Workspace,
) {
  const script = join(folder, 'askpass')
  await writeFile(script, askpass, { mode: 0o700 })
  const config = Object.entries({
    'safe.directory': '*',
    'fetch.fsckObjects': 'true',
    ...Object.fromEntries(toleratedFaults.map((fault) => [`fetch.fsck.${fault}`, 'ignore'])),
    // Keeps small fetches as packs too, because packs are published as hard links.
    'fetch.unpackLimit': '1',
    // Larger files are streamed, not held in memory.
    'core.bigFileThreshold': '16m',
    // Packs are synced later. Syncing each of many refs would take longer than everything else.
    'core.fsync': 'none',
    'core.hooksPath': '/dev/null',
    'gc.auto': '0',
    'maintenance.auto': 'false',
    'credential.helper': '',
    'transfer.bundleURI': 'false',
    'http.followRedirects': 'false',
    'http.proxy': `http://${proxy.username}:${proxy.password}@${proxy.host}:${proxy.port}`,
    // Otherwise git sends each first request without the password.
    'http.proxyAuthMethod': 'basic',
    // The proxy copies the response to such a request without parsing it.
    ...(url.startsWith('http:') && { 'http.extraHeader': 'Connection: close' }),
    ...(certificates && { 'http.sslCAInfo': await writeAuthorities(folder, certificates) }),
    'http.lowSpeedLimit': '1000',
    'http.lowSpeedTime': '60',
    // Some hosts answer 404 without credentials. An older git ignores this setting.
    ...((username || password) && { 'http.proactiveAuth': 'basic' }),
  })
  return {
    GIT_ALLOW_PROTOCOL: local ? 'file:http:https' : 'http:https',
    GIT_ASKPASS: script,
    BELFRY_SOURCE_HOST: new URL(url).host,
    // A zero byte cannot be in the environment; such credentials are refused by the source.
    BELFRY_SOURCE_USERNAME: (username ?? '').replaceAll('\0', ''),
    BELFRY_SOURCE_PASSWORD: (password ?? '').replaceAll('\0', ''),
    GIT_CONFIG_COUNT: `${config.length}`,
    ...Object.fromEntries(
      config.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

/** Git trusts only these, so the file includes the system's certificates. */
async function writeAuthorities(folder: string, certificates: string) {
  const path = join(folder, 'authorities.pem')
  const known = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  await writeFile(path, [...known, certificates].join('\n'))
  return path
}
