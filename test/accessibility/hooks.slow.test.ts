import { before } from 'node:test'
import { openSite, testPages } from './pages.ts'

before(openSite)

testPages('the settings of repositories')
testPages('organizations and applications')
