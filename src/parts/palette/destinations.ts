import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { levelOf } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import { settingsLinks } from '#web/settings.ts'

/** One line of the command palette. */
export interface Destination {
  text: string
  /** Beside the text, as the title of an issue. */
  detail?: string
  icon: string
  href: string
  /** Sent as a form, with the token of the page. Otherwise the address is opened. */
  post?: Record<string, string>
}

/** The pages that everyone has, and those of the visitor. */
export function pagesFor(visitor: Account | null): Destination[] {
  const page = (text: string, href: string, icon: string): Destination => ({ text, href, icon })
  const everyone = [
    page('Home', '/', 'home'),
    page('Explore', '/explore', 'telescope'),
    page('People', '/explore?tab=people', 'people'),
    page('Public activity', '/timeline', 'pulse'),
    page('API reference', '/docs', 'book'),
  ]
  if (!visitor) return [...everyone, page('Sign in', '/login', 'sign-in')]
  return [
    page('Notifications', '/notifications', 'inbox'),
    page('Your issues', '/issues', 'issue-opened'),
    page('Your pull requests', '/pulls', 'git-pull-request'),
    page('Review requests', '/pulls?tab=review-requested', 'code-review'),
    ...everyone,
    page('Your profile', `/${visitor.login}`, 'person'),
    page('Your repositories', `/${visitor.login}?tab=repositories`, 'repo'),
    page('Your stars', '/stars', 'star'),
    page('Watching', '/watching', 'eye'),
    ...(visitor.site_admin ? [page('Administration', '/site-admin', 'server')] : []),
    ...settingsLinks.map(([href, title, icon]) => page(`Settings: ${title}`, href, icon)),
  ]
}

/** `now`: what is unread later stays unread. */
export function actionsFor(visitor: Account | null, here: Repository | undefined, now: Date): Destination[] {
  if (!visitor) return []
  const path = here && pathOf(here)
  return [
    ...(here?.has_issues && !here.archived
      ? [{ text: `New issue in ${here.name}`, href: `${path}/issues/new`, icon: 'issue-opened' }]
      : []),
    { text: 'New repository', href: '/new', icon: 'repo' },
    { text: 'Import a repository', href: '/new/import', icon: 'repo-push' },
    { text: 'New organization', href: '/organizations/new', icon: 'organization' },
    ...(here
      ? [
          { text: `Fork ${here.name}`, href: `${path}/fork`, icon: 'repo-forked' },
          { text: `Star ${here.name}`, href: `${path}/star`, icon: 'star', post: {} },
        ]
      : []),
    {
      text: 'Mark all notifications as read',
      href: '/notifications',
      icon: 'check-circle',
      post: { act: 'all', read_at: now.toISOString() },
    },
    { text: 'Sign out', href: '/logout', icon: 'sign-out', post: {} },
  ]
}

/** The pages of the repository that the visitor looks at. */
export function sectionsOf(here: Repository): Destination[] {
  const path = pathOf(here)
  const section = (text: string, address: string, icon: string): Destination => ({
    text,
    detail: path.slice(1),
    href: `${path}${address}`,
    icon,
  })
  return [
    section('Code', '', 'code'),
    ...(here.has_issues ? [section('Issues', '/issues', 'issue-opened')] : []),
    section('Pull requests', '/pulls', 'git-pull-request'),
    section('Releases', '/releases', 'tag'),
    section('Activity', '/activity', 'pulse'),
    ...(here.access >= levelOf('admin') ? [section('Settings', '/settings', 'gear')] : []),
  ]
}
