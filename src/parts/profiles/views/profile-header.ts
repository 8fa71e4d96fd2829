import { listOrganizations } from '#hosting/organizations/organizations.ts'
import { siteLink } from '#hosting/organizations/views/organization-header.ts'
import { isFollowing, type Standing } from '#hosting/people/people.ts'
import { followButton } from '#hosting/people/views/people-list.ts'
import type { Account } from '#identity/accounts.ts'
import { avatar } from '#web/components/avatar.ts'
import { buttonLink, shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { dayText } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

const mostOrganizations = 24

/** Who a user is: beside every tab of their profile. */
export async function profileHeader(visit: Visit, user: Account, { followers, following }: Standing): Promise<Html> {
  const { visitor, db } = visit
  const mine = visitor?.id === user.id
  const [organizations, followed] = await Promise.all([
    listOrganizations(db, user, { limit: mostOrganizations, offset: 0 }, !mine),
    visitor && !mine ? isFollowing(db, visitor, user) : false,
  ])
  const { login, name, bio } = user
  const action = mine ? buttonLink('Edit profile', '/settings/profile') : followButton(visit, user, followed, 'medium')
  return html`<aside class="profile-header" aria-label="Profile"><div class="profile-name">${avatar(user, 240)}<div><h1><bdi>${name || login}</bdi></h1>${name && html`<p class="login">${login}</p>`}</div></div>
${bio && html`<p class="bio" dir="auto">${bio}</p>`}${action && html`<div class="profile-action">${action}</div>`}
<p class="follows">${icon('people')} <a href="/${login}?tab=followers"><strong>${shortCount(followers)}</strong> ${followers === 1 ? 'follower' : 'followers'}</a> · <a href="/${login}?tab=following"><strong>${shortCount(following)}</strong> following</a></p>
<ul class="plain profile-facts">${factsOf(user, companyOf(user, organizations.rows))}</ul>
${organizations.rows.length > 0 && html`<h2>Organizations</h2><p class="profile-organizations">${organizations.rows.map((org) => html`<a href="/${org.login}" title="${org.login}" aria-label="${org.login}">${avatar(org, 32)}</a>`)}</p>`}</aside>`
}

/** `@name` of an organization that the page shows is a link to it. */
function companyOf({ company }: Account, organizations: Pick<Account, 'login'>[]): Html | string | null {
  const named = organizations.find(({ login }) => company?.toLowerCase() === `@${login.toLowerCase()}`)
  return named ? html`<a href="/${named.login}">${company}</a>` : company
}

type Fact = Html | string | null | false

function factsOf(
  { location, email, email_public, blog, twitter_username, created_at, site_admin }: Account,
  company: Fact,
): Html[] {
  const facts: [name: string, label: string, value: Fact][] = [
    ['organization', 'Company', company],
    ['location', 'Location', location],
    ['mail', 'E-mail address', email_public && email ? html`<a href="mailto:${email}">${email}</a>` : null],
    ['link', 'Site', blog ? siteLink(blog) : null],
    ['mention', 'Name on X', twitter_username],
    ['calendar', 'Since', `Joined ${dayText(created_at)}`],
    ['shield', 'Role', site_admin && badge('Site administrator')],
  ]
  return facts.flatMap(([name, label, value]) => (value ? html`<li>${icon(name, { label })} <span>${value}</span></li>` : []))
}
