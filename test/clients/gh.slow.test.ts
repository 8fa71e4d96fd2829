import assert from 'node:assert/strict'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { certificateFile, certificateOf } from '#test/certificates.ts'
import { openForge } from '#test/forge.ts'
import { missingPackages } from '#test/needs.ts'
import { run, skipped } from './programs.ts'
import { Story } from './story.ts'

/** The reverse proxy with TLS that stands before a Belfry, because `gh` speaks no plain HTTP. */
async function openProxy(web: string) {
  const server = createServer(certificateOf('signed'), (incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming
    const onward = request(new URL(url, web), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', (error) => response.destroy(error))
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a newcomer with gh', async (t) => {
  const missing = missingPackages({ gh: 'gh' })
  if (missing.length) return t.skip(skipped('gh', missing))
  await using forge = await openForge()
  await using proxy = await openProxy(forge.web)
  forge.belfry.addresses.web = `https://${proxy.host}`
  const { token } = await forge.person('ada')
  const env = {
    GH_HOST: proxy.host,
    GH_ENTERPRISE_TOKEN: token,
    SSL_CERT_FILE: certificateFile('authority'),
    GH_PROMPT_DISABLED: '1',
  }
  const gh = async (...words: string[]) => {
    const { stdout, stderr, failed } = await run(['gh', ...words], env)
    if (failed) throw new Error(stderr + stdout)
    return stdout.trimEnd()
  }
  const [, version = ''] = /version (\S+)/.exec(await gh('--version')) ?? []
  const story = new Story(t, { client: '`gh api`', version: `${version} (Debian)` })

  await story.works('users and repositories', async () => {
    assert.equal(await gh('api', 'user', '--jq', '.login'), 'ada')
    assert.equal(await gh('api', 'user/repos', '-f', 'name=engine', '-F', 'auto_init=true', '--jq', '.full_name'), 'ada/engine')
    assert.equal(
      await gh('api', 'repos/ada/engine', '-X', 'PATCH', '-f', 'description=It counts', '--jq', '.description'),
      'It counts',
    )
  })

  await story.works('issues', async () => {
    assert.equal(
      await gh('api', 'repos/ada/engine/issues', '-f', 'title=It rattles', '-f', 'labels[]=noise', '--jq', '.number'),
      '1',
    )
    assert.equal(await gh('api', 'repos/ada/engine/issues/1/comments', '-f', 'body=Loudly', '--jq', '.body'), 'Loudly')
    assert.equal(await gh('api', '-X', 'PATCH', 'repos/ada/engine/issues/1', '-f', 'state=closed', '--jq', '.state'), 'closed')
  })

  await story.works('pages with --paginate', async () => {
    for (const title of ['Two', 'Three', 'Four']) await gh('api', 'repos/ada/engine/issues', '-f', `title=${title}`, '--silent')
    const titles = await gh('api', '--paginate', 'repos/ada/engine/issues?per_page=2', '--jq', '.[].title')
    assert.deepEqual(titles.split('\n'), ['Four', 'Three', 'Two'])
  })

  await story.works('errors with their reasons', async () => {
    await assert.rejects(gh('api', 'repos/ada/nothing'), /HTTP 404/)
    await assert.rejects(gh('api', 'repos/ada/engine/issues', '-f', 'title='), /HTTP 422/)
  })

  const listing = ['issue', 'list', '--repo', `${proxy.host}/ada/engine`]
  await story.lacks('commands that use GraphQL, such as `gh issue list`', /Belfry serves no GraphQL/, () => gh(...listing))
  await story.end()
})
