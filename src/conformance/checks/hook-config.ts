import { type Answer, at } from '../answer.ts'
import { hookConfig } from '../resources.ts'
import { webhooks } from './webhooks.ts'

const hooks = '/repos/{owner}/{repo}/hooks'

const masked = (answer: Answer) => answer.row().secret
webhooks.check(
  'hooks.update.secret',
  `PATCH ${hooks}/{hook_id}`,
  ['If a secret was set earlier, the update must send the same secret or a new one; otherwise the secret is removed.'],
  async ({ me, workspace }) => {
    const made = await workspace.hook({ config: { secret: workspace.name('secret') } })
    const before = (await me.get(`${made.path}/config`)).is(200)
    before.must(typeof masked(before) === 'string', 'a masked secret', masked(before))
    ;(await me.patch(made.path, { config: { url: at(made.row, 'config.url'), content_type: 'json' } })).is(200)
    const after = (await me.get(`${made.path}/config`)).is(200)
    after.must(!masked(after), 'no secret', masked(after))
  },
)

webhooks.check(
  'hooks.config.get',
  `GET ${hooks}/{hook_id}/config`,
  [
    'GET | /hooks/{hook_id}/config | | 200 Webhook configuration',
    'content_type string, insecure_ssl string or number, secret string (returned masked), url string.',
  ],
  async ({ me, workspace }) => {
    const secret = workspace.name('secret')
    const { path: address } = await workspace.hook({ config: { secret } })
    const answer = (await me.get(`${address}/config`)).is(200).matches(hookConfig)
    answer.must(typeof masked(answer) === 'string' && !answer.text.includes(secret), 'a masked secret', masked(answer))
  },
)

webhooks.check(
  'hooks.config.update',
  `PATCH ${hooks}/{hook_id}/config`,
  ['url string, content_type string, secret string, insecure_ssl string or number | 200 Webhook configuration'],
  async ({ me, workspace }) => {
    const { path: address } = await workspace.hook({ config: { secret: workspace.name('secret') } })
    const url = await workspace.hookUrl()
    const answer = (await me.patch(`${address}/config`, { url, content_type: 'form', insecure_ssl: 1 }))
      .is(200)
      .matches(hookConfig)
    answer.equals('url', answer.row().url, url).equals('content_type', answer.row().content_type, 'form')
    answer.equals('insecure_ssl', `${answer.row().insecure_ssl}`, '1')
    answer.must(typeof masked(answer) === 'string', 'the secret to stay', masked(answer))
  },
)
