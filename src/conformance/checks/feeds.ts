import { type Answer, at, Skip } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { basic } from '../client.ts'
import { feedLinks, feeds as listing } from '../resources.ts'

export const feeds = new Part('Feeds')

const operation = 'GET /feeds'

/** By Basic authentication with the token as the password. */
const ownFeeds = async ({ anonymous, target }: Context) =>
  (await anonymous.get('/feeds', basic(target.login, target.token))).is(200)

feeds.check(
  'feeds.list',
  operation,
  ['200, the Feed listing', 'timeline_url, user_url (URI template), current_user_public_url'],
  async ({ me }) => {
    const answer = (await me.get('/feeds')).is(200).matches(listing)
    const { user_url } = answer.row()
    answer.must(`${user_url}`.includes('{user}'), 'user_url to be a URI template with {user}', user_url)
  },
)

feeds.check(
  'feeds.links',
  operation,
  ['The _links value is an array holding one object.', 'The type for feeds is application/atom+xml.'],
  async ({ me }) => {
    const answer = (await me.get('/feeds')).is(200)
    const links = answer.row()._links
    answer.must(Array.isArray(links) && links.length === 1, '_links to be an array of one object', links)
    for (const name of ['timeline', 'user'])
      answer.equals(`_links[0].${name}.type`, at(links, `0.${name}.type`), 'application/atom+xml')
  },
)

feeds.check('feeds.anonymous', operation, ['It lists the Atom feeds available to the caller.'], async ({ anonymous }) => {
  const answer = (await anonymous.get('/feeds')).is(200).matches(listing)
  answer.must(!('current_user_url' in answer.row()), 'no feed of a user', answer.row().current_user_url)
})

feeds.check(
  'feeds.private.token',
  operation,
  ['Private feeds are only listed when the caller uses Basic authentication.'],
  async ({ me }) => {
    const answer = (await me.get('/feeds')).is(200)
    for (const name of ['current_user_url', 'current_user_actor_url'])
      answer.must(!answer.row()[name], `no ${name} for a token`, answer.row()[name])
  },
)

feeds.check(
  'feeds.private.basic',
  operation,
  ['Private feeds are only listed when the caller uses Basic authentication.', 'Private feed URLs embed a non-revocable token.'],
  async (context) => {
    const answer = (await ownFeeds(context)).matches(listing)
    for (const name of ['current_user_url', 'current_user_actor_url']) {
      const url = `${answer.row()[name]}`
      answer.must(/[?&]\w*token=.+/.test(url), `${name} with a token`, url)
    }
    const links = at(answer.row(), '_links.0')
    answer.must(feedLinks(links) === undefined, '_links with the same feeds', links)
    for (const name of ['timeline', 'user', 'current_user_public', 'current_user', 'current_user_actor'])
      answer
        .equals(`_links[0].${name}.href`, at(links, `${name}.href`), answer.row()[`${name}_url`])
        .equals(`_links[0].${name}.type`, at(links, `${name}.type`), 'application/atom+xml')
  },
)

/** An Atom document, without credentials besides those of its address. */
async function isAtom(context: Context, url: string): Promise<Answer> {
  const answer = (await context.anonymous.get(url, { accept: 'application/atom+xml' })).is(200)
  answer.header('content-type', /^application\/atom\+xml/)
  return answer.must(
    /<feed\b[^<>]*xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/.test(answer.text),
    'an Atom document',
    answer.text.slice(0, 200),
  )
}

const atom = 'send the header accept: application/atom+xml to a feed URL; the answer is 200 with an Atom document.'

feeds.check('feeds.atom.timeline', operation, [atom], async (context) =>
  isAtom(context, `${(await context.me.get('/feeds')).is(200).row().timeline_url}`),
)

feeds.check('feeds.atom.user', operation, [atom], async (context) => {
  const { user_url } = (await context.me.get('/feeds')).is(200).row()
  await isAtom(context, `${user_url}`.replace('{user}', context.target.login))
})

for (const name of ['current_user_public_url', 'current_user_url', 'current_user_actor_url'])
  feeds.check(`feeds.atom.${name.replace(/_url$/, '').replaceAll('_', '-')}`, operation, [atom, name], async (context) =>
    isAtom(context, `${(await ownFeeds(context)).row()[name]}`),
  )

feeds.check(
  'feeds.atom.organizations',
  operation,
  ['current_user_organization_urls (array of strings)', atom],
  async (context) => {
    const answer = await ownFeeds(context)
    const [url] = (answer.row().current_user_organization_urls ?? []) as string[]
    if (!url) throw new Skip('The user of --token belongs to no organization.')
    await isAtom(context, url)
  },
)

feeds.check('feeds.atom.wrong-token', operation, ['Private feed URLs embed a non-revocable token.'], async (context) => {
  const { name } = await context.workspace.privateRepo()
  const url = new URL(`${(await ownFeeds(context)).row().current_user_actor_url}`)
  await context.anonymous.until(url.href, `an entry about ${name}`, (feed) => feed.is(200).text.includes(name))
  for (const parameter of [...url.searchParams.keys()]) url.searchParams.set(parameter, 'wrong')
  const answer = await context.anonymous.get(url.href, { accept: 'application/atom+xml' })
  answer.must(!answer.text.includes(name), 'nothing private without the token', `status ${answer.status} with a private entry`)
})
