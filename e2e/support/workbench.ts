import { expect, type Locator, type Page } from '@playwright/test';
import type { Callboard } from '../start-callboard.ts';

/** A tab in Chromium offers so many tools. */
const TAB_TOOLS = 18;

/** Boards whose link was opened: it is good for one tab only. */
const opened = new WeakSet<Callboard>();

/** Opens the workbench by the one-time link, as a person's first page is, and later by the token. */
export async function signIn(page: Page, board: Callboard): Promise<void> {
  if (opened.has(board)) return signInByToken(page, board);
  opened.add(board);
  await page.goto(board.signInUrl);
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

/** Goes to a page by the token. */
export async function signInByToken(page: Page, board: Callboard, next = '/'): Promise<void> {
  await page.goto(`${board.url}/sign-in?next=${encodeURIComponent(next)}`);
  await page.getByLabel('Token', { exact: true }).fill(board.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

export const connection = (page: Page): Locator => page.getByTestId('connection');

/** Until the page is fed and this tab's tools are registered. */
export async function untilReady(page: Page): Promise<void> {
  await expect(connection(page)).toHaveAttribute('data-state', 'connected');
  await expect(page.getByText(`This tab offers ${TAB_TOOLS} tools:`)).toBeVisible();
  await expect(connection(page)).toContainText(/[1-9]\d* clients?/);
}

export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });

export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

export const cards = (page: Page): Locator => page.getByTestId('tool-card');

/** The cards of one tool, newest first. */
export const cardsFor = (page: Page, tool: string): Locator =>
  cards(page).filter({ has: page.getByRole('heading', { name: tool, exact: true }) });

export const cardOf = (page: Page, callId: string): Locator =>
  page.locator(`[data-testid="tool-card"][data-call-id="${callId}"]`);

/** The conversation, in the order of the transcript. */
export const conversation = (page: Page): Locator =>
  page.getByRole('log', { name: 'Conversation' });

export const notice = (page: Page, code: string): Locator =>
  page.locator(`[data-testid="notice"][data-code="${code}"]`);

/** The menu of a card, opened. */
export async function chooseInMenu(page: Page, card: Locator, item: string): Promise<void> {
  await card.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

export async function callIdOf(card: Locator): Promise<string> {
  return (await card.getAttribute('data-call-id')) ?? '';
}
