import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { type Bounds, streamGit } from '#git/run-git.ts'
import { ImportFailure, type Origin, type Workshop } from '#importer/source.ts'
import { explain } from './complaints.ts'

/** Answers from its environment, and only for the host that the password is for. */
const askpass = `#!/bin/sh
case "$1" in *"//$BELFRY_SOURCE_HOST'"* | *"@$BELFRY_SOURCE_HOST'"*) ;; *) exit 1 ;; esac
case "$1" in
Username*) printf '%s\\n' "$BELFRY_SOURCE_USERNAME" ;;
Password*) printf '%s\\n' "$BELFRY_SOURCE_PASSWORD" ;;
esac
`

/** Old and harmless faults that many histories have. What could do harm in a checkout is not among them. */
export const forgiven = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'badDate',
  'badDateOverflow',
  'missingEmail',
  'missingNameBeforeEmail',
  'badName',
  'badEmail',
  'multipleAuthors',
]

/** Of branches and tags, in bytes: a million of them. */
const mostNames = 100 << 20

/** Runs a git that speaks with the source. Addresses are arguments; whatever is secret is in the environment. */
export async function connectGit(origin: Origin, workshop: Workshop, args: string[], bounds: Partial<Bounds> = {}) {
  const settings = await environmentFor(origin, workshop)
  const output: Buffer[] = []
  let size = 0
  try {
    const running = { signal: workshop.signal, settings, detached: false, ...bounds }
    for await (const chunk of streamGit(workshop.repository, args, running)) {
      output.push(chunk)
      size += chunk.length
      if (size > mostNames) throw new ImportFailure('The source has more branches and tags than can be imported.')
    }
  } catch (error) {
    workshop.signal.throwIfAborted()
    throw explain(error, origin)
  }
  return Buffer.concat(output)
}

async function environmentFor({ url, username, password }: Origin, { folder, egress: { proxy, certificates } }: Workshop) {
  const script = join(folder, 'askpass')
  await writeFile(script, askpass, { mode: 0o700 })
  const config = Object.entries({
    'safe.directory': '*',
    'fetch.fsckObjects': 'true',
    ...Object.fromEntries(forgiven.map((fault) => [`fetch.fsck.${fault}`, 'ignore'])),
    // Also of small fetches: what is published is linked, not copied.
    'fetch.unpackLimit': '1',
    // Larger files go through without being held in memory.
    'core.bigFileThreshold': '16m',
    // Packs are synced while they are looked through; to sync each of many refs would take longer than all the rest.
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
    // Some hosts deny that there is anything as long as nobody says who asks; an older git does not know this setting.
    ...((username || password) && { 'http.proactiveAuth': 'basic' }),
  })
  return {
    GIT_ALLOW_PROTOCOL: 'http:https',
    GIT_ASKPASS: script,
    BELFRY_SOURCE_HOST: new URL(url).host,
    // Nothing could be started with a zero byte in it; who has one there is not let in.
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

/** For git these are instead of those that the system knows, not besides. */
async function writeAuthorities(folder: string, certificates: string) {
  const path = join(folder, 'authorities.pem')
  const known = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  await writeFile(path, [...known, certificates].join('\n'))
  return path
}
