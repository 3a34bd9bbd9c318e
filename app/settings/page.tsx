import { redirect } from 'next/navigation';

/** The settings have no page of their own. */
export default function SettingsPage() {
  redirect('/settings/access');
}
