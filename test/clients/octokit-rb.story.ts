import { join } from 'node:path'
import { tellStory } from './programs.ts'

tellStory({
  client: 'octokit.rb',
  needs: { '/usr/bin/ruby': 'ruby', '/var/lib/dpkg/info/ruby-octokit.list': 'ruby-octokit' },
  command: ['/usr/bin/ruby', '-W0', join(import.meta.dirname, 'octokit.rb')],
})
