import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBelfry } from 'belfry/testing'
import { UsageError } from '#cli/command.ts'
import { command } from '#cli/conformance.ts'
import type { Report } from '#conformance/report.ts'
import { systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'

const password = 'a long password for checks'
const application = { client_id: 'conformance', client_secret: 'a secret that everyone knows' }
const local_client_id = 'conformance-local'

/** A Belfry with everything that the checks can use: two users, an organization and OAuth applications, as many more as asked for. */
export async function startChecked(more_applications = 0) {
  const others = Array.from({ length: more_applications }, (_, index) => `conformance-${index}`)
  const server = await startBelfry({
    seed: {
      users: [{ login: 'ada', password }, { login: 'ben' }],
      organizations: [{ login: 'guild', owners: ['ada'], members: ['ben'] }],
      repositories: [history()],
      oauth_applications: [
        ...[application.client_id, ...others].map((client_id) => ({
          name: client_id,
          owner: 'ada',
          callback_url: 'https://conformance.example/callback',
          client_id,
          client_secret: application.client_secret,
        })),
        { name: local_client_id, owner: 'ada', callback_url: 'http://127.0.0.1:9/callback', client_id: local_client_id },
      ],
    },
    // Test servers have no delay, but the specification does.
    settings: { BELFRY_PUBLIC_EVENTS_DELAY: '300' },
  })
  // A run marks the whole inbox as read only if it has nothing else.
  const { ada } = server.users
  const marked = await fetch(`${server.url}/api/v3/notifications`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ada?.token}` },
  })
  if (!marked.ok) throw new Error(`marking the inbox as read gave ${marked.status}`)
  const secrets = {
    BELFRY_CONFORMANCE_TOKEN: ada?.token,
    BELFRY_CONFORMANCE_OTHER_TOKEN: server.users.ben?.token,
    BELFRY_CONFORMANCE_PASSWORD: password,
    BELFRY_CONFORMANCE_CLIENT_ID: application.client_id,
    BELFRY_CONFORMANCE_CLIENT_SECRET: application.client_secret,
    BELFRY_CONFORMANCE_LOCAL_CLIENT_ID: local_client_id,
  }
  return Object.assign(server, { secrets })
}

/**
 * What limits of timelines are checked with: more public events than a timeline shows, old enough to be shown, and events of ben that are too old for
 * the one variant and for both.
 */
function history() {
  const daysAgo = (days: number, seconds = 0) => new Date(Date.now() - days * 86_400_000 + seconds * 1000).toISOString()
  const comments = Array.from({ length: 310 }, (_, index) => ({ author: 'ada', body: `Day ${index}`, at: daysAgo(2, index) }))
  const old = [100, 60, 1].map((days) => ({ title: `${days} days ago`, author: 'ben', at: daysAgo(days) }))
  return {
    name: 'ada/history',
    at: daysAgo(120),
    files: { 'README.md': '# history' },
    issues: [...old, { title: 'A diary', author: 'ada', at: daysAgo(3), comments }],
  }
}

export interface Checked {
  report: Report
  printed: string
  status: number
  page: string
}

/** Runs the command in this process, which is faster. */
export async function runConformance(args: string[], environment: Record<string, string | undefined>): Promise<Checked> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'belfry-conformance-'))
  const [json, html] = [join(folder.path, 'report.json'), join(folder.path, 'report.html')]
  let printed = ''
  const status = await command.run([...args, '--json', json, '--html', html], {
    environment,
    clock: systemClock,
    print: (text) => {
      printed += `${text}\n`
    },
    warn: (text) => assert.fail(text),
    untilInterrupted: () => new AbortController().signal,
  })
  return { printed, status, report: JSON.parse(await readFile(json, 'utf8')), page: await readFile(html, 'utf8') }
}

/** What the command says when it refuses to run, and its exit code. */
export const refusalOf = (args: string[]): Promise<{ code: number; stderr: string }> =>
  runConformance(args, {}).then(
    () => assert.fail('it was accepted'),
    (error) => {
      if (!(error instanceof StartError)) throw error
      return { code: error instanceof UsageError ? 2 : 1, stderr: error.message }
    },
  )
