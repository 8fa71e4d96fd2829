import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttling } from '@octokit/plugin-throttling'
import { openForge } from '#test/forge.ts'
import { Octokit } from '#test/octokit.ts'
import { npmVersion, Story } from './story.ts'

test('a newcomer with @octokit/plugin-throttling', async (t) => {
  await using forge = await openForge({ settings: { BELFRY_RATE_LIMIT: 'on' } })
  const story = new Story(t, { client: '`@octokit/plugin-throttling`', version: npmVersion('@octokit/plugin-throttling') })

  await story.works('another attempt when the rate limit is over', async () => {
    const Throttled = Octokit.plugin(throttling)
    const waited: string[] = []
    const octokit = new Throttled({
      baseUrl: forge.versioned,
      throttle: {
        onRateLimit: (_seconds, { method, url }, _octokit, attempts) => {
          waited.push(`${method} ${url}`)
          forge.clock.advance(3_600_000)
          return attempts < 1
        },
        onSecondaryRateLimit: () => assert.fail('There is no secondary rate limit'),
      },
    })
    // Without credentials, a client has 60 requests in an hour.
    for (let request = 0; request < 61; request++) await octokit.meta.root()
    assert.deepEqual(waited, ['GET /'])
  })
  await story.end()
})
