import { join } from 'node:path'
import { run, tellStory } from './programs.ts'

tellStory({
  client: 'github3.py',
  needs: { python3: 'python3' },
  async prepare() {
    const { failed } = await run(['python3', '-c', 'import github3'], {})
    return failed ? 'it is not installed, and Debian has no package. In a virtual environment: pip install github3.py' : undefined
  },
  command: ['python3', '-B', join(import.meta.dirname, 'github3_story.py')],
})
