"""The wall before an app that is served to others: nobody sees a page, or brings a file, without a login.

On this machine alone (``localhost``) there is no wall. Elsewhere there is one however the server was started: by OpenID
Connect where Streamlit's secrets have a section ``[auth]``, else by the shared password of the environment; without
either nobody enters.
"""

import os
from functools import cache

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from biobgt.base.serving import USERS_VARIABLE, LoginThrottle, admitted_users, may_enter, shared_password
from session.server import audit, is_served_to_others, let_in
from views.shared.widgets import caption, escape_markdown, input_errors_shown

_LOGGED_IN = "logged_in"  # under which the session keeps who is
_SHARED = "shared password"


def ask_for_login() -> None:
    """Go on for who is logged in, or has no need to; show the wall to others and end the run."""
    if not is_served_to_others() or _LOGGED_IN in st.session_state:
        return
    st.title("BioBGT Explorer")
    with input_errors_shown():
        if st.secrets.load_if_toml_exists() and "auth" in st.secrets:
            _ask_openid()
        else:
            _ask_password()
    if _LOGGED_IN not in st.session_state:
        st.stop()
    st.rerun()


def show_logout() -> None:
    """Say who is logged in, and offer to log out, where an account says who it is."""
    user = st.session_state.get(_LOGGED_IN)
    if user not in (None, _SHARED):
        caption(f"Logged in as {user}.")
        _offer_logout()


def _offer_logout() -> None:
    st.button("Log out", key="log_out", icon=":material/logout:", on_click=st.logout)


def _ask_openid() -> None:
    users = admitted_users(os.environ)
    if not st.user.get("is_logged_in"):
        st.button("Log in", key="log_in", type="primary", icon=":material/login:", on_click=st.login)
        return
    email = str(st.user.get("email") or "")
    if may_enter(email, st.user.get("email_verified"), users):
        _enter(email)
        return
    if st.session_state.get("refused_account") != email:  # one line in the audit, and not one per drawing of the page
        st.session_state["refused_account"] = email
        audit("login", user=email, address=_address(), result="refused")
    said = (
        f"The account {email or 'without an address'} may not use this server. Its administrator lists the accounts "
        f"that may in {USERS_VARIABLE}."
    )
    st.error(escape_markdown(said), icon=":material/block:")
    _offer_logout()


def _ask_password() -> None:
    keeper = _throttle()
    if keeper is None:
        st.error(
            "Others can reach this app and it has no login, so it shows nothing. If you started it, open it on "
            "localhost, or set up a login as described in docs/serving.md and start it with `biobgt app --public`.",
            icon=":material/lock:",
        )
        return
    with st.form("login", clear_on_submit=True, width=420):
        typed = st.text_input("Password", type="password", key="password")
        sent = st.form_submit_button("Log in", icon=":material/login:", type="primary")
    if not sent:
        return
    address = _address()
    pause = keeper.pause(address)
    admitted = keeper.admits(address, typed)
    audit("login", user=_SHARED, address=address, result="ok" if admitted else "paused" if pause else "refused")
    if admitted:
        _enter(_SHARED)
    elif pause:
        st.error(f"Too many attempts. Wait {pause:.0f} s, then try again.", icon=":material/timer:")
    else:
        st.error("Wrong password.", icon=":material/block:")


@cache
def _throttle() -> LoginThrottle | None:
    """One for the whole server, for failures are counted over all sessions."""
    password = shared_password(os.environ)
    return None if password is None else LoginThrottle(password)


def _enter(user: str) -> None:
    """Remember the login for this session, and take its files."""
    context = get_script_run_ctx()
    if context is not None:
        let_in(context.session_id, user, st.context.cookies)
    st.session_state[_LOGGED_IN] = user
    if user != _SHARED:
        audit("login", user=user, address=_address(), result="ok")


def _address() -> str:
    return st.context.ip_address or "this machine"
