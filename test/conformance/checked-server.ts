import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startBelfry } from 'belfry/testing'
import type { Report } from '#conformance/report.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'belfry')
const password = 'a long password for checks'
const application = { client_id: 'conformance', client_secret: 'a secret that everyone knows' }
const local_client_id = 'conformance-local'

/** A Belfry with everything that the checks can use: two users, an organization and an OAuth application. */
export async function startChecked() {
  const server = await startBelfry({
    seed: {
      users: [{ login: 'ada', password }, { login: 'ben' }],
      organizations: [{ login: 'guild', owners: ['ada'] }],
      oauth_applications: [
        { name: 'Conformance', owner: 'ada', callback_url: 'https://conformance.example/callback', ...application },
        { name: 'Local', owner: 'ada', callback_url: 'http://127.0.0.1:9/callback', client_id: local_client_id },
      ],
    },
    // Test servers have none, but the specification does.
    settings: { BELFRY_PUBLIC_EVENTS_DELAY: '300' },
  })
  const secrets = {
    BELFRY_CONFORMANCE_TOKEN: server.users.ada?.token,
    BELFRY_CONFORMANCE_OTHER_TOKEN: server.users.ben?.token,
    BELFRY_CONFORMANCE_PASSWORD: password,
    BELFRY_CONFORMANCE_CLIENT_ID: application.client_id,
    BELFRY_CONFORMANCE_CLIENT_SECRET: application.client_secret,
    BELFRY_CONFORMANCE_LOCAL_CLIENT_ID: local_client_id,
  }
  return Object.assign(server, { secrets })
}

export interface Checked {
  report: Report
  printed: string
  status: number | null
  page: string
}

/** Runs the command as its users do. */
export async function runConformance(args: string[], secrets: Record<string, string | undefined>): Promise<Checked> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'belfry-conformance-'))
  const [json, html] = [join(folder.path, 'report.json'), join(folder.path, 'report.html')]
  const child = spawn(program, ['conformance', ...args, '--json', json, '--html', html], {
    env: { PATH: process.env.PATH, ...secrets },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { printed, status, report: JSON.parse(await readFile(json, 'utf8')), page: await readFile(html, 'utf8') }
}
